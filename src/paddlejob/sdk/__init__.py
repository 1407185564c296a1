"""What Python users import: `paddlejob` and `paddle.job` name it. Also the client's side of a cluster, for the CLI."""
