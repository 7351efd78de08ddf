# Slim, without root, on a read-only root file system:
#
#   docker build -t isthmus .
#   docker run --read-only --tmpfs /tmp -v isthmus-run:/var/lib/isthmus -v ./isthmus.yaml:/etc/isthmus/isthmus.yaml:ro \
#              -p 5555:5555 isthmus
#
# The gateway writes below /var/lib/isthmus only. Name `admin.listen: "127.0.0.1:8161"` in the configuration: the health check asks there.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml constraints.txt README.md ./
COPY mappings mappings
COPY adapters adapters
COPY gateway gateway
COPY spark spark
RUN python -m venv /opt/isthmus \
 && /opt/isthmus/bin/pip install --no-cache-dir -c constraints.txt '.[run]'

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --no-create-home --home-dir /var/lib/isthmus isthmus \
 && install -d -o isthmus -g isthmus /var/lib/isthmus
COPY --from=build /opt/isthmus /opt/isthmus
COPY config /etc/isthmus
ENV PATH=/opt/isthmus/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 10001
WORKDIR /var/lib/isthmus
VOLUME /var/lib/isthmus
EXPOSE 5555
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s CMD ["isthmus", "links", "--json"]
ENTRYPOINT ["isthmus"]
CMD ["run", "--log-format", "json", "/etc/isthmus/isthmus.yaml"]
