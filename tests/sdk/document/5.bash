./tools/build_docker.sh ./example/ /example paddlepaddle/paddle yancey1989/paddle-job
