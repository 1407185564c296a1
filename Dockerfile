# The operator's image: a wheel built in one stage, installed into a slim Python in the next, with the pinned versions
# of all that it needs. Needs only a package index.
ARG PYTHON=python:3.12-slim
FROM ${PYTHON} AS build
WORKDIR /src
COPY pyproject.toml requirements-build.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir --only-binary=:all: --require-hashes -r requirements-build.txt \
    && pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM ${PYTHON}
COPY requirements.txt /
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --only-binary=:all: --require-hashes -r requirements.txt \
    && pip install --no-cache-dir --no-deps --no-index /wheels/*.whl \
    && rm -rf /wheels requirements.txt
USER 65532:65532
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
ENTRYPOINT ["paddlejob"]
CMD ["operator"]
