import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ReceiverOptions, type WebhookEvent, WebhookVerificationError, webhooks } from './index.ts';

const SECRET = 'fls_test_secret';
const event = {
  id: 'evt_1',
  type: 'invoice.paid',
  sequence: 1,
  data: { object: { id: 'in_1', note: '🦊' } },
};
const body = Buffer.from(JSON.stringify(event));
const signed = (raw: Buffer = body, secret = SECRET) => webhooks.generateTestHeaders(raw, secret);

interface Case {
  raw?: Buffer;
  headers?: Record<string, string>;
  options?: Partial<ReceiverOptions>;
}
interface Outcome {
  status: number;
  text: string;
  events: WebhookEvent[];
  errors: unknown[];
}

/** A receiver that records its calls. */
function recording(options: Partial<ReceiverOptions> = {}) {
  const events: WebhookEvent[] = [];
  const errors: unknown[] = [];
  const receiver = webhooks.receiver({
    secret: SECRET,
    onEvent: (each) => void events.push(each),
    onError: (error) => errors.push(error),
    ...options,
  });
  return { receiver, events, errors };
}

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function whole(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = await message.toArray();
  return Buffer.concat(chunks);
}

async function post(port: number, headers: Record<string, string>, raw: Buffer, method = 'POST') {
  const sending = request({ port, host: '127.0.0.1', method, headers });
  sending.end(raw);
  const [answer] = (await once(sending, 'response')) as [IncomingMessage];
  const text = (await whole(answer)).toString();
  return { status: answer.statusCode ?? 0, text, headers: answer.headers };
}

/** The same delivery by each of the ways in; `raw` may come in many chunks. */
const WAYS: Record<string, (given: Case) => Promise<Outcome>> = {
  node: async ({ raw = body, headers = signed(raw), options }) => {
    const { receiver, events, errors } = recording(options);
    const { status, text } = await post(await serve(receiver.node), headers, raw);
    return { status, text, events, errors };
  },
  fetch: async ({ raw = body, headers = signed(raw), options }) => {
    const { receiver, events, errors } = recording(options);
    const sent = new Request('https://shop.example/webhooks', {
      method: 'POST',
      headers,
      body: new Uint8Array(raw),
    });
    const answer = await receiver.fetch(sent);
    return { status: answer.status, text: await answer.text(), events, errors };
  },
  receive: async ({ raw = body, headers = signed(raw), options }) => {
    const { receiver, events, errors } = recording(options);
    return { ...(await receiver.receive(raw, headers)), events, errors };
  },
};

describe.each(Object.entries(WAYS))('by %s', (_way, deliver) => {
  test('a genuine webhook reaches the handler before it is answered with 200', async () => {
    const outcome = await deliver({});
    expect(outcome).toEqual({ status: 200, text: 'ok', events: [event], errors: [] });
  });

  test('the verdict of a guard is in the answer, other results are not', async () => {
    for (const verdict of ['new', 'duplicate', 'stale']) {
      expect(await deliver({ options: { onEvent: async () => verdict } })).toMatchObject({
        status: 200,
        text: verdict,
      });
    }
    expect(await deliver({ options: { onEvent: () => 'secret row' } })).toMatchObject({
      status: 200,
      text: 'ok',
    });
  });

  test.each([
    ['another secret', signed(body, 'other'), 'signature_mismatch'],
    [
      'an old stamp',
      webhooks.generateTestHeaders(body, SECRET, { timestamp: '1776643200' }),
      'timestamp_skew',
    ],
    ['no headers', {}, 'missing_header'],
    ['a short nonce', webhooks.generateTestHeaders(body, SECRET, { nonce: 'short' }), 'nonce_length'],
  ])('%s: 400 with the reason', async (_what, headers, reason) => {
    const { status, text, events, errors } = await deliver({ headers });
    expect(status).toBe(400);
    expect(text).toMatch(new RegExp(`^${reason}: .`));
    expect(events).toEqual([]);
    expect(errors).toEqual([expect.objectContaining({ reason })]);
    expect(errors[0]).toBeInstanceOf(WebhookVerificationError);
  });

  test('the response reveals nothing of the secret or the handler, the log does', async () => {
    const secret = 'fl_test_an_api_key ';
    const refused = await deliver({ options: { secret } });
    expect(refused).toMatchObject({
      status: 400,
      text: 'signature_mismatch: the signature does not match the body',
    });
    expect(String(refused.errors[0])).toContain('looks like an API key');

    const inner = new Error('password authentication failed for user "shop"');
    const failed = await deliver({ options: { onEvent: () => Promise.reject(inner) } });
    expect(failed).toMatchObject({ status: 500, text: 'the handler failed', errors: [inner] });
    const thrown = await deliver({
      options: {
        onEvent: () => {
          throw new WebhookVerificationError('signature_mismatch', 'of another service');
        },
      },
    });
    expect(thrown).toMatchObject({ status: 500, text: 'the handler failed' });
  });

  test('1 MiB is taken, a byte more is 413', async () => {
    const padded = (bytes: number) => Buffer.concat([body, Buffer.alloc(bytes - body.length, ' ')]);
    expect(await deliver({ raw: padded(1_048_576) })).toMatchObject({ status: 200, events: [event] });
    expect(await deliver({ raw: padded(1_048_577) })).toMatchObject({ status: 413, events: [] });
  });

  test('a secret from a function may change, fail or be away: then 500, so that the service retries', async () => {
    expect(await deliver({ options: { secret: async () => ['new', SECRET] } })).toMatchObject({
      status: 200,
    });
    expect(await deliver({ options: { secret: () => undefined } })).toMatchObject({
      status: 500,
      text: 'the receiver is not set up',
    });
    const away = () => Promise.reject(new Error('vault is sealed'));
    expect(await deliver({ options: { secret: away } })).toMatchObject({
      status: 500,
      text: 'the receiver is not set up',
      events: [],
    });
  });
});

test('a secret that is missing from the start is an error at the start', () => {
  for (const secret of [undefined, '', [], [undefined, '']]) {
    expect(() => webhooks.receiver({ secret, onEvent: () => {} })).toThrow('the webhook secret is missing');
  }
});

test('a log that fails changes no answer and ends no process', async () => {
  const failure = new Error('disk full');
  const onError = () => Promise.reject(failure);
  const console = vi.spyOn(globalThis.console, 'error').mockReturnValue();
  const receiver = webhooks.receiver({ secret: SECRET, onEvent: () => {}, onError });
  expect(await receiver.receive(body, {})).toMatchObject({ status: 400 });
  await expect.poll(() => console.mock.calls, { timeout: 30_000 }).toEqual([[failure]]);
  console.mockRestore();
});

describe('node:http and Express', () => {
  test.each(['GET', 'HEAD', 'PUT', 'DELETE'])('%s is 405', async (method) => {
    const { receiver, events } = recording();
    const answer = await post(await serve(receiver.node), signed(), Buffer.alloc(0), method);
    expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    expect(events).toEqual([]);
  });

  test('a body that was parsed before is 500 with the reason: the service comes again once it is mended', async () => {
    const { receiver, events, errors } = recording();
    const port = await serve((incoming, response) => {
      void whole(incoming).then((bytes) => {
        receiver.node(Object.assign(incoming, { body: JSON.parse(bytes.toString()) }), response);
      });
    });
    const { status, text } = await post(port, signed(), body);
    expect(status).toBe(500);
    expect(text).toMatch(/^body_not_raw: .*a parsed object was given: read it before any body parser$/);
    expect(events).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  test.each(['body', 'rawBody'])('a parser that keeps the bytes as %s does no harm', async (name) => {
    const { receiver, events } = recording();
    const port = await serve((incoming, response) => {
      void whole(incoming).then((bytes) => {
        receiver.node(Object.assign(incoming, { body: {}, [name]: bytes }), response);
      });
    });
    expect(await post(port, signed(), body)).toMatchObject({ status: 200 });
    expect(events).toEqual([event]);
  });

  test('a sender that hangs up in the middle of the body is no event and no crash', async () => {
    const { receiver, events, errors } = recording();
    const responses: ServerResponse[] = [];
    const port = await serve((incoming, response) => {
      responses.push(response);
      receiver.node(incoming, response);
    });
    const socket = connect(port, '127.0.0.1');
    const lines = Object.entries(signed()).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n${lines.join('')}\r\n`);
    socket.write(body.subarray(0, 10));
    await expect.poll(() => responses.length, { timeout: 30_000 }).toBe(1);
    socket.destroy();
    await expect.poll(() => responses[0]?.writableEnded, { timeout: 30_000 }).toBe(true);
    expect({ events, errors }).toEqual({ events: [], errors: [] });
  });

  test('a response that another call has given meanwhile is kept', async () => {
    const { receiver, events } = recording();
    const port = await serve((incoming, response) => {
      receiver.node(incoming, response);
      response.writeHead(503).end('busy');
    });
    expect(await post(port, signed(), body)).toMatchObject({ status: 503, text: 'busy' });
    await expect.poll(() => events, { timeout: 30_000 }).toEqual([event]);
  });
});

describe("the web's standard Request", () => {
  test('only POST', async () => {
    const { receiver } = recording();
    const answer = await receiver.fetch(new Request('https://shop.example/webhooks'));
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });

  test('a body that was read before is 500 with the reason', async () => {
    const { receiver } = recording();
    const sent = new Request('https://shop.example/', {
      method: 'POST',
      headers: signed(),
      body: body.toString(),
    });
    await sent.json();
    const answer = await receiver.fetch(sent);
    expect(answer.status).toBe(500);
    expect(await answer.text()).toMatch(/^body_not_raw: .*nothing was given/);
  });

  test('an endless body is cut off at the cap', async () => {
    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
      cancel: () => {
        cancelled = true;
      },
    });
    const init = { method: 'POST', headers: signed(), body: endless, duplex: 'half' as const };
    const { receiver } = recording();
    expect((await receiver.fetch(new Request('https://shop.example/', init))).status).toBe(413);
    expect(pulled).toBeLessThan(2_000_000);
    expect(cancelled).toBe(true);
  });

  test('a body that breaks off is 500, so that the service comes again', async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
    const init = { method: 'POST', headers: signed(), body: broken, duplex: 'half' as const };
    const { receiver, events } = recording();
    expect((await receiver.fetch(new Request('https://shop.example/', init))).status).toBe(500);
    expect(events).toEqual([]);
  });
});

test('an event is typed by its type', () => {
  const batchOf = (given: WebhookEvent): string | undefined => {
    if (given.type !== 'payout_batch.updated') return undefined;
    const before: string | null | undefined = given.data.previous_attributes?.status;
    return `${given.data.object.batch_id} was ${before}`;
  };
  const given = { ...event, type: 'payout_batch.updated', data: { object: { batch_id: 'pb_1' } } };
  expect(batchOf(given as unknown as WebhookEvent)).toBe('pb_1 was undefined');
});
