import { request } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { createApiServer } from '../packages/server/src/app.ts';
import type { TestMerchant, TestService } from './service.ts';

/** Serves the sandbox's own pages of a store, as `florin start` does. */
export async function serveSandboxPages(
  { app }: TestService,
  { merchantId, storeId }: TestMerchant,
  { folderOption = '', port = 0 }: { folderOption?: string; port?: number } = {},
): Promise<{ url: string; server: FastifyInstance }> {
  let url = '';
  const server = createApiServer(app, {
    publicUrl: () => url,
    rate: { perSecond: 100, burst: 100 },
    sandbox: { owner: { merchantId, storeId }, folderOption },
  });
  url = await server.listen({ host: '127.0.0.1', port });
  return { url, server };
}

interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** As raw as it gets: `fetch` sets Host by itself. */
export async function rawRequest(
  url: string,
  { headers = {}, method = 'GET' }: { headers?: Record<string, string>; method?: string } = {},
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sent = request(url, { method, headers }, (answer) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
    });
  });
  sent.on('error', reject).end();
  return await promise;
}
