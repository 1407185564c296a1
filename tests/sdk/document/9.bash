docker run --rm -it -v $HOME/.kube/config:/root/.kube/config python /example/train.py
