import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Florin, webhooks } from '@florin/sdk';

const { FLORIN_BASE_URL, FLORIN_API_KEY = '', FLORIN_SECRET_KEY = '' } = process.env;
const baseUrl = FLORIN_BASE_URL ?? 'http://127.0.0.1:8420';
const florin = new Florin({ baseUrl, apiKey: FLORIN_API_KEY, secretKey: FLORIN_SECRET_KEY });

const receiver = webhooks.receiver({
  secret: FLORIN_SECRET_KEY,
  onEvent: ({ type, data }) => {
    if (type === 'payment.completed') console.log('paid: order', data.object.order_id);
  },
});

/** The order's id is the key: a click that comes twice with it makes one session. */
async function buy(order: string): Promise<string> {
  const coffee = { amount: 499n, currency: 'USD', order_id: order, description: 'One coffee' };
  return (await florin.checkout.sessions.create(coffee, { idempotencyKey: order })).url;
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/webhooks') return receiver.node(request, response);
  if (request.method === 'POST') {
    response.writeHead(303, { location: await buy(request.url?.slice(1) ?? '') }).end();
  } else {
    const form = `<form method="post" action="/${randomUUID()}"><button>Coffee, $4.99</button></form>`;
    response.writeHead(200, { 'content-type': 'text/html' }).end(form);
  }
}

const server = createServer((request, response) => {
  serve(request, response).catch((error) => {
    console.error(error);
    response.writeHead(502).end('Paying is not possible right now.');
  });
});
server.listen(process.env.PORT ?? 3000, () => console.log('listening', server.address()));
