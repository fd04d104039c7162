import type pg from 'pg';

type Query = (...args: unknown[]) => unknown;

/** What the driver expects of a statement that has not been sent yet. */
const NOT_SENT = { command: 'BEGIN', rowCount: 0, rows: [] };

/**
 * Sends the `begin` of a transaction together with its first statement, in one write: a trip to the database less for
 * every transaction, and none is open before it has something to do. Needs a client in pipeline mode, which sends what
 * it is given without waiting for answers. Whoever sends the first statement learns of a `begin` that failed.
 */
export function beginLate(client: pg.PoolClient): void {
  const send = client.query.bind(client) as Query;
  const { stream } = client.connection;
  let isDue = false;
  const query: Query = (text, ...rest) => {
    if (text === 'begin') {
      isDue = true;
      return Promise.resolve(NOT_SENT);
    }
    if (!isDue) return send(text, ...rest);
    isDue = false;
    stream.cork();
    try {
      return Promise.all([send('begin'), send(text, ...rest)]).then(([, result]) => result);
    } finally {
      stream.uncork();
    }
  };
  Object.assign(client, { query });
}
