docker push yancey1989/paddle-job
