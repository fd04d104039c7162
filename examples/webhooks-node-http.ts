import { createServer } from 'node:http';
import { webhooks } from '@florin/sdk';

const receiver = webhooks.receiver({
  secret: process.env.FLORIN_SECRET_KEY,
  onEvent: (event) => console.log('received', event.type, event.id),
});

const server = createServer(receiver.node);
server.listen(process.env.PORT ?? 3000, () => console.log('listening', server.address()));
