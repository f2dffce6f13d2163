# All programs in one image:
#
#   docker build -t sqlpipe .
#   docker run --rm --init -e SQLDUMP_TOKEN sqlpipe sqldump https://db.example.com > schema.stream

FROM node:24-slim AS build
WORKDIR /sqlpipe
COPY . .
RUN npm ci && npm run build && npx tsx scripts/package.ts

FROM node:24-slim
COPY --from=build /sqlpipe/dist/sqlpipe-*.tgz /tmp/
RUN npm install --global --offline /tmp/sqlpipe-*.tgz && rm /tmp/sqlpipe-*.tgz
USER node
CMD ["sqldump", "--help"]
