docker run --rm -it -v $HOME/.kube/config:/root/.kube/config <runtime image name> <entry point>
