import { createServer, type Server } from 'node:http';
import type { PublicPage } from '../platform/http/pages/index.ts';

export interface MonitoringListener {
  url: string;
  close(): Promise<void>;
}

/** Serves pages to monitoring on a separate address that API callers cannot reach. */
export async function listenForMonitoring(
  pages: readonly PublicPage[],
  address: { host: string; port: number },
): Promise<MonitoringListener> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0];
    const page = request.method === 'GET' ? pages.find((known) => known.path === path) : undefined;
    const pageRequest = {
      url: '/',
      params: {},
      headers: {},
      repeated: new Set<string>(),
      body: Buffer.alloc(0),
      remoteAddress: '',
    };
    const answering =
      page?.handle(pageRequest) ?? Promise.resolve({ status: 404, type: 'text/plain', body: '' });
    answering
      .catch(() => ({ status: 500, type: 'text/plain', body: '' }))
      .then(({ status, type, body }) => response.writeHead(status, { 'content-type': type }).end(body))
      .catch(() => response.destroy());
  });
  await listening(server, address);
  const bound = server.address();
  const port = typeof bound === 'object' ? bound?.port : address.port;
  return {
    url: `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function listening(server: Server, address: { host: string; port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(address, resolve);
  await promise;
  server.off('error', reject);
}
