import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiServer } from '../../packages/server/src/app.ts';
import { startService, type TestService } from '../service.ts';
import { selfSigned } from '../webhooks/certificates.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'florin-tls-'));
let service: TestService;
let server: ReturnType<typeof createApiServer>;
let port = 0;

beforeAll(async () => {
  service = await startService();
  const { cert, key } = selfSigned({ names: ['localhost', '127.0.0.1'] });
  const tls = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') };
  writeFileSync(tls.certFile, cert);
  writeFileSync(tls.keyFile, key);
  const rate = { perSecond: 100, burst: 100 };
  server = createApiServer(service.app, { publicUrl: () => `https://127.0.0.1:${port}`, rate, tls });
  port = Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(async () => {
  await server?.close();
  await service?.stop();
  rmSync(folder, { recursive: true });
});

/** The suite that was agreed on, or why there was none. */
async function agree(options: { ciphers: string; maxVersion: 'TLSv1.2' | 'TLSv1.3' }): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  socket.once('secureConnect', () => resolve(socket.getCipher().name));
  socket.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
  return await promise.finally(() => socket.destroy());
}

test('TLS 1.2 agrees on authenticated encryption with forward secrecy, and on nothing else', async () => {
  const maxVersion = 'TLSv1.2' as const;
  for (const ciphers of [
    'ECDHE-ECDSA-AES128-SHA256',
    'ECDHE-ECDSA-AES256-SHA',
    'AES128-GCM-SHA256',
    'AES128-SHA',
  ])
    expect(await agree({ ciphers, maxVersion }), ciphers).toMatch(/ALERT_HANDSHAKE_FAILURE|ALERT_NUMBER/);
  expect(await agree({ ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256', maxVersion })).toBe(
    'ECDHE-ECDSA-AES128-GCM-SHA256',
  );
  expect(await agree({ ciphers: 'TLS_AES_128_GCM_SHA256', maxVersion: 'TLSv1.3' })).toMatch(/^TLS_/);
});

test('every answer over TLS says that this host is to be spoken to over TLS alone; over plain HTTP none does', async () => {
  for (const at of ['/healthz', '/api/v1/balances', '/no/such', '/docs/errors']) {
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    get({ host: '127.0.0.1', port, path: at, rejectUnauthorized: false }, (answer) => {
      resolve(answer.resume().headers['strict-transport-security']);
    }).on('error', reject);
    expect(await promise, at).toBe('max-age=31536000');
    const plain = await fetch(`${service.baseUrl}${at}`);
    expect(plain.headers.get('strict-transport-security')).toBeNull();
  }
});
