import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { webhooks } from '@florin/sdk';

export interface Got {
  headers: IncomingHttpHeaders;
  body: Buffer;
  eventId: string;
  /** Undefined where the six steps refuse it. */
  verified: boolean;
}

/** A merchant's server on this machine. */
export interface LocalReceiver {
  url: string;
  got: Got[];
  /** What the next requests are answered; 200 by default. 0: nothing, until the other side gives up. */
  answer: (nth: number) => number;
  close(): Promise<void>;
}

export async function openReceiver(secretKey: string, port = 0): Promise<LocalReceiver> {
  const got: Got[] = [];
  const receiver: Pick<LocalReceiver, 'answer'> = { answer: () => 200 };
  const isRight = (body: Buffer, headers: IncomingHttpHeaders) => {
    try {
      return webhooks.verify(body, headers, secretKey).id === headers['x-service-event-id'];
    } catch {
      return false;
    }
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { headers } = request;
      const eventId = String(headers['x-service-event-id']);
      const status = receiver.answer(got.push({ headers, body, eventId, verified: isRight(body, headers) }));
      if (status > 0) response.writeHead(status).end(`said ${status}`);
    });
  });
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    got,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  });
}
