// The create route without a database, in two forms: as the service checks it, or with the strict JSON parser alone.
import { PayoutBatchInput } from '../../packages/contract/src/schemas/index.ts';
import { Clock } from '../../packages/server/src/platform/db/clock.ts';
import { type Caller, createHttpServer, defineRoute } from '../../packages/server/src/platform/http/index.ts';
import type { Authenticate } from '../../packages/server/src/platform/http/pipeline.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import { macOf } from '../../packages/server/src/stores/keys/index.ts';
import { argument, say, untilTold } from '../child.ts';

const { form, secretKey } = argument<{ form: 'checked' | 'parsed'; secretKey: string }>();

const caller: Caller = {
  merchantId: '',
  storeId: '',
  keyId: 'bench',
  mode: 'live',
  scopes: ['payouts'],
  ownerId: null,
  people: [],
  actor: { kind: 'key', keyId: 'key' },
  clockOffset: 0,
};
const secret = Buffer.from(secretKey);
const admitted = { caller, hardenNonce: async () => {} };
const authenticate: Authenticate = async ({ headers, body }) => {
  if (form === 'parsed') return admitted;
  const parts = {
    timestamp: headers['x-service-timestamp'] ?? '',
    nonce: headers['x-service-nonce'] ?? '',
    body,
  };
  if (macOf(secret, parts).toString('hex') !== headers['x-service-signature'])
    throw new Error('wrong signature');
  return admitted;
};

/** Any object: what the strict parser gives is taken as it is. */
const ANY_OBJECT = { type: 'object' } as const;

const shared = {
  method: 'POST',
  path: '/api/v1/payout-batches',
  operationId: 'create',
  tag: '',
  summary: '',
  scope: 'payouts',
  answer: ANY_OBJECT,
  refusals: [],
} as const;
const route =
  form === 'checked'
    ? defineRoute({
        ...shared,
        body: PayoutBatchInput,
        handle: async ({ body }) => ({ body: { items: body.items.length } }),
      })
    : defineRoute({
        ...shared,
        body: ANY_OBJECT,
        handle: async ({ body }) => ({ body: { items: Object.keys(body).length } }),
      });

const server = createHttpServer({
  routes: [route],
  pages: [],
  errorFormats: [],
  authenticate,
  knowsKey: async () => true,
  clock: new Clock(),
  log: createLogger('silent'),
  versions: ['bench'],
  rate: { perSecond: 1_000_000, burst: 1_000_000 },
  publicUrl: () => 'http://127.0.0.1',
  checkAnswers: false,
  observer: { answered: () => {}, refused: () => {} },
});
untilTold(() => server.close());
say({ baseUrl: await server.listen({ host: '127.0.0.1', port: 0 }) });
