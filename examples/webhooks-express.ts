import { webhooks } from '@florin/sdk';
import express from 'express';

const receiver = webhooks.receiver({
  secret: process.env.FLORIN_SECRET_KEY,
  onEvent: (event) => console.log('received', event.type, event.id),
});

const app = express();
// Before express.json(), which would leave nothing of the bytes that were signed.
app.post('/webhooks', receiver.node);
app.use(express.json());

const server = app.listen(Number(process.env.PORT ?? 3000), () => console.log('listening', server.address()));
