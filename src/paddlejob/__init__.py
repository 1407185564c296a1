"""PaddlePaddle training on Kubernetes and on this machine, from the same YAML."""
