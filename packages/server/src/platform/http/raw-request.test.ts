import fastify from 'fastify';
import { expect, test } from 'vitest';
import { headOf } from './raw-request.ts';

test('the address of a caller that has reset the connection is an empty text', async () => {
  const { promise: address, resolve } = Promise.withResolvers<unknown>();
  const app = fastify();
  app.get('/', (request, reply) => {
    request.raw.socket.destroy();
    resolve(headOf(request).remoteAddress);
    reply.hijack();
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  expect(await address).toBe('');
  await app.close();
});
