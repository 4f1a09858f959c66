# The image holds Python, the locked dependencies and Callgate: no compiler, no build tools, no secret, no state.
#   docker build -t callgate .
#   docker run --read-only --cap-drop ALL --tmpfs /tmp -v callgate-state:/var/lib/callgate -v ./etc:/etc/callgate:ro callgate
# Pin the base by digest where you build for production: --build-arg PYTHON=python:3.11-slim-bookworm@sha256:...
ARG PYTHON=python:3.11-slim-bookworm

FROM ${PYTHON} AS wheel
WORKDIR /src
COPY requirements-build.lock ./
RUN ["python", "-m", "pip", "install", "--no-cache-dir", "--only-binary=:all:", "--require-hashes", "-r", "requirements-build.lock"]
COPY pyproject.toml README.md LICENSE ./
COPY policies policies
COPY interceptors interceptors
COPY proxy proxy
RUN ["python", "-m", "pip", "wheel", "--no-cache-dir", "--no-deps", "--no-build-isolation", "--wheel-dir", "/dist", "."]

FROM ${PYTHON} AS install
COPY requirements.lock /
RUN ["python", "-m", "venv", "/opt/callgate"]
RUN ["/opt/callgate/bin/python", "-m", "pip", "install", "--no-cache-dir", "--only-binary=:all:", "--require-hashes", "-r", "/requirements.lock"]
COPY --from=wheel /dist /dist
RUN /opt/callgate/bin/python -m pip install --no-cache-dir --no-deps --no-index /dist/*.whl \
 && /opt/callgate/bin/python -m pip uninstall --yes pip setuptools \
 && install -d -o 65532 -g 65532 -m 0700 /var/lib/callgate

FROM ${PYTHON} AS runtime
LABEL org.opencontainers.image.title="callgate" \
      org.opencontainers.image.description="The deterministic gate between AI agents and the real world" \
      org.opencontainers.image.licenses="Apache-2.0"
# A file system that may not be written needs its bytecode before: pip compiled the packages, this does the library.
RUN ["python", "-c", "import compileall, sysconfig; compileall.compile_dir(sysconfig.get_path('stdlib'), quiet=2)"]
COPY --from=install /opt/callgate /opt/callgate
COPY --from=install --chown=65532:65532 /var/lib/callgate /var/lib/callgate
ENV PATH=/opt/callgate/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
# A number, so that an orchestrator can see that it is not root.
USER 65532:65532
WORKDIR /var/lib/callgate
VOLUME ["/var/lib/callgate"]
EXPOSE 8080
STOPSIGNAL SIGTERM
# /healthz says that the loop is alive. The admin listener stays on loopback; this runs beside it and needs no shell.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8081/healthz', timeout=2)"]
# Configuration comes mounted; deploy/ has examples. Its admin listener is 127.0.0.1:8081 for the check above.
ENTRYPOINT ["callgate"]
CMD ["serve", "--config", "/etc/callgate/callgate.yaml"]
