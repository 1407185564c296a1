docker push <runtime Docker image>
