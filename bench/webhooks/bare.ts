// What a sender without any bookkeeping does: signed requests by the product's own client, so many at a time.
import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { parseNetworks } from '../../packages/server/src/platform/outbound/addresses.ts';
import { createOutbound } from '../../packages/server/src/platform/outbound/index.ts';
import { argument, say, untilTold } from '../child.ts';

export interface BareTask {
  ca: string;
  urls: string[];
  bytes: number;
}

/** As many as the prototype of the design had. */
const IN_FLIGHT = 64;
const SECRET = createSecretKey(randomBytes(32));

const { ca, urls, bytes } = argument<BareTask>();
const outbound = createOutbound({ ca, allow: parseNetworks('127.0.0.0/8') ?? [] });
const text = `{"id":"evt_${'0'.repeat(26)}","data":"${'x'.repeat(bytes - 60)}"}`;

async function send(url: string): Promise<void> {
  const body = Buffer.from(text);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = randomUUID();
  const signature = createHmac('sha256', SECRET).update(`${timestamp}.${nonce}.`).update(body).digest('hex');
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': 'Service-Webhook/1.0',
    'X-Service-Signature': signature,
    'X-Service-Timestamp': timestamp,
    'X-Service-Nonce': nonce,
    'X-Service-Event-Type': 'payout_batch.updated',
    'X-Service-Event-ID': `evt_${'0'.repeat(26)}`,
  };
  const answer = await outbound.post({ url, headers, body, sandbox: true });
  if (answer.failure !== null) throw new Error(`a receiver of this machine: ${answer.failure}`);
}

async function run(requests: number): Promise<void> {
  let begun = 0;
  const loop = async () => {
    while (begun < requests) {
      begun += 1;
      await send(`${urls[begun % urls.length] ?? ''}/hook`);
    }
  };
  const startMs = performance.now();
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - startMs) / 1000;
  say({ perSecond: requests / seconds, cpuMicros: (user + system) / requests });
}

createInterface({ input: process.stdin }).on('line', (line) => void run(Number(line)));
untilTold(async () => outbound.close());
say({ ready: true });
