import { webhooks } from '@florin/sdk';
import { Hono } from 'hono';

const receiver = webhooks.receiver({
  secret: process.env.FLORIN_SECRET_KEY,
  onEvent: (event) => console.log('received', event.type, event.id),
});

// Bun, Deno and Workers serve a default export as it stands; Node does with `serve(app)` of @hono/node-server.
const app = new Hono();
app.post('/webhooks', (context) => receiver.fetch(context.req.raw));
export default app;
