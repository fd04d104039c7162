import pg from 'pg';
import { createApiServer, openApp } from '../../packages/server/src/app.ts';
import { Pipeline } from '../../packages/server/src/platform/db/pipeline.ts';
import { createLogger } from '../../packages/server/src/platform/observability/log.ts';
import type { Premises } from './merchant.ts';
import { BATCHES, signedHeaders } from './requests.ts';

/** One statement as the service sent it. */
export interface Statement {
  text: string;
  values: readonly unknown[];
  /** Options of the session it was sent on. */
  session: string;
  /** Statements with the same number went out together. */
  trip: number;
  /** The name of the database that it went to. */
  database: string;
}

/** What a request sends to the database: the statements of two requests with the same body. */
export interface Recording {
  first: Statement[];
  second: Statement[];
}

type Query = (...args: unknown[]) => unknown;

/** Writes down what goes through `pg` while `work` runs. */
export async function record(work: () => Promise<void>): Promise<Statement[]> {
  const statements: Statement[] = [];
  let trips = 0;
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  prototype.query = function recorded(
    this: { connectionParameters: { options?: string; database?: string } },
    ...args
  ) {
    const [config, values] = args;
    const { options: session = '', database = '' } = this.connectionParameters;
    const trip =
      config instanceof Pipeline
        ? config.statements
        : [{ text: String(config), values: Array.isArray(values) ? values : [] }];
    statements.push(
      ...trip.map((own) => ({ text: own.text, values: own.values, session, trip: trips, database })),
    );
    trips += 1;
    return original.apply(this, args);
  };
  try {
    await work();
  } finally {
    prototype.query = original;
  }
  return statements;
}

/**
 * Runs the real service in this process and records the SQL of a create request, so that what pgbench runs is the same
 * SQL by construction, whatever the service becomes.
 */
export async function recordCreate(
  premises: Premises,
  body: Buffer,
  url: string = BATCHES,
): Promise<Recording> {
  const { databaseUrl, masterKey } = premises;
  // The request log is written behind the answer, for several requests at once.
  const options = { databaseUrl, masterKey, poolSize: 1, withoutRequestLog: true };
  const app = await openApp({ ...options, log: createLogger('silent') });
  const rate = { perSecond: 1_000, burst: 1_000 };
  const server = createApiServer(app, { publicUrl: () => 'http://127.0.0.1', rate });
  const create = async () => {
    const headers = signedHeaders(premises, body);
    const answer = await server.inject({
      method: 'POST',
      url,
      headers,
      payload: body,
    });
    if (answer.statusCode !== 200)
      throw new Error(`the service answered ${answer.statusCode}: ${answer.body}`);
  };
  try {
    // The first request opens connections and fills what the process keeps.
    await create();
    return { first: await record(create), second: await record(create) };
  } finally {
    await server.close();
    await app.close();
  }
}
