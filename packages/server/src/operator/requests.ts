import type { App } from '../app.ts';
import { Fail } from '../platform/fail.ts';
import { csvOf } from '../platform/http/index.ts';
import {
  findRequest,
  type LoggedRequest,
  type LoggedRequestDetails,
  LoggedRequestSchema,
  listRequests,
  type RequestFilter,
  readRefusal,
  readStatusRange,
} from '../request-log/index.ts';
import { merchantOf } from '../stores/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { idOf, merchantBy } from './context.ts';

/** As an operator types it. Times are Unix seconds of real time. */
export interface RequestQuery {
  merchant?: string | undefined;
  store?: string | undefined;
  key?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
  method?: string | undefined;
  route?: string | undefined;
  /** `401`, or `4xx`. */
  status?: string | undefined;
  errorCode?: string | undefined;
  refusal?: string | undefined;
  requestId?: string | undefined;
}

const CSV_SLICE = 500;
const FOLLOW_EVERY_MS = 1_000;
/** A request is listed when it is answered, at the time at which it came: slower ones are not followed. */
const FOLLOW_BACK_MS = 60_000;
const FOLLOW_SLICE = 1_000;

const msOf = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);

/** A store or key names its merchant. */
async function merchantIdOf(app: App, { merchant, store, key }: RequestQuery): Promise<string> {
  if (merchant === undefined && store !== undefined) return await merchantOf(app.db, 'store', store);
  if (merchant === undefined && key !== undefined) return await merchantOf(app.db, 'api_key', key);
  return (await merchantBy(app, merchant)).merchantId;
}

async function filterOf(app: App, query: RequestQuery): Promise<RequestFilter> {
  const { store, key, method, route, errorCode, requestId } = query;
  return {
    merchantId: await merchantIdOf(app, query),
    storeId: store === undefined ? undefined : idOf('store', store),
    keyId: key === undefined ? undefined : idOf('key', key),
    fromMs: msOf(query.since),
    beforeMs: msOf(query.until),
    status: readStatusRange(query.status),
    refusal: readRefusal(query.refusal),
    method: method?.toUpperCase(),
    route,
    errorCode,
    requestId,
  };
}

export function requestCommands(app: App) {
  const page = async (filter: RequestFilter, limit: number, after?: string) =>
    await listRequests(app.db, filter, { limit, after });
  return {
    list: async ({
      limit,
      starting_after: after,
      ...query
    }: RequestQuery & { limit: number; starting_after?: string | undefined }): Promise<LoggedRequest[]> =>
      (await page(await filterOf(app, query), limit, after)).data,
    csv: async function* (query: RequestQuery): AsyncGenerator<Uint8Array> {
      const filter = await filterOf(app, query);
      const lines = csvOf({
        item: LoggedRequestSchema,
        idOf: ({ id }: LoggedRequest) => id,
        first: await page(filter, CSV_SLICE),
        read: (after) => page(filter, CSV_SLICE, after),
      });
      for await (const text of lines) yield Buffer.from(text);
    },
    /** Requests as they are recorded, from now on until the signal is aborted. */
    follow: async function* (query: RequestQuery, signal: AbortSignal): AsyncGenerator<LoggedRequest> {
      const filter = await filterOf(app, query);
      const beganMs = app.clock.nowMs();
      let seen = new Set<string>();
      while (!signal.aborted) {
        const fromMs = Math.max(beganMs, app.clock.nowMs() - FOLLOW_BACK_MS);
        const { data } = await page({ ...filter, fromMs }, FOLLOW_SLICE);
        for (const one of data.toReversed()) if (!seen.has(one.id)) yield one;
        seen = new Set(data.map(({ id }) => id));
        await pause(FOLLOW_EVERY_MS, signal);
      }
    },
    /** @throws Fail `resource_not_found` */
    show: async (requestId: string, merchant?: string): Promise<LoggedRequestDetails> => {
      const of = merchant === undefined ? undefined : (await merchantBy(app, merchant)).merchantId;
      const found = await findRequest(app.db, requestId, of);
      if (found !== undefined) return found;
      const where = of === undefined ? '' : ` of ${encodeId('merchant', of)}`;
      throw new Fail(
        'resource_not_found',
        `There is no request ${requestId}${where} in the log: unsigned and unknown ones are not recorded, old ones are dropped.`,
      );
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
}
