docker run --rm -it -v $HOME/.kube/config:{home of root}/.kube/config python /example/train.py
