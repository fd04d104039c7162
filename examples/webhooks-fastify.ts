import { webhooks } from '@florin/sdk';
import fastify from 'fastify';

const receiver = webhooks.receiver({
  secret: process.env.FLORIN_SECRET_KEY,
  onEvent: (event) => console.log('received', event.type, event.id),
});

const app = fastify();
// A plugin with a parser of its own: every other route goes on to get parsed JSON.
app.register(receiver.fastify, { prefix: '/webhooks' });

await app.listen({ port: Number(process.env.PORT ?? 3000) });
console.log('listening', app.server.address());
