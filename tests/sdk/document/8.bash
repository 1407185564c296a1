docker run --rm -it -v $HOME/.kube/config:{home of root}/.kube/config <runtime image name> <entry point>
