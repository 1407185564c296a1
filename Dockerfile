# The operator's image: a wheel built in one stage, installed into a slim Python in the next. Needs only a package index.
ARG PYTHON=python:3.12-slim
FROM ${PYTHON} AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --wheel-dir /wheels .

FROM ${PYTHON}
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --find-links /wheels paddle-operator \
    && rm -rf /wheels
USER 65532:65532
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
ENTRYPOINT ["paddlejob"]
CMD ["operator"]
