# The embedding model is prepared while the image is built.
FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 MEMVAULT_CACHE=/opt/memvault/cache
RUN python -m venv /opt/memvault/venv
ENV PATH=/opt/memvault/venv/bin:$PATH
WORKDIR /build
COPY constraints.txt .
COPY pyproject.toml hatch_build.py requirements-model.txt README.md LICENSE ./
COPY src src
COPY indexer indexer
COPY mcp_server mcp_server
COPY vault_template vault_template
RUN pip install -c constraints.txt '.[ner,servers]' \
    && python -c "from memvault.config.settings import EmbeddingSettings; \
from memvault.text.encoders.embedding import open_embedder; \
open_embedder(EmbeddingSettings(), None).close()"

FROM python:3.11-slim
RUN useradd --uid 1000 --create-home memvault \
    && mkdir /vault /state && chown memvault:memvault /vault /state
COPY --from=build /opt/memvault /opt/memvault
ENV PATH=/opt/memvault/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    MEMVAULT_CACHE=/opt/memvault/cache \
    MEMVAULT_STATE=/state \
    MEMVAULT_VAULT=/vault
USER memvault
VOLUME ["/vault", "/state"]
ENTRYPOINT ["memvault"]
CMD ["serve"]
