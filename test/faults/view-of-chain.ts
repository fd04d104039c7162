import type { DatabaseServer } from './database-server.ts';

/**
 * Shows the chains' tables, which lie in a database of their own, in the product's: who judges reads both at once. Nobody
 * writes there: postgres_fdw does that in a repeatable read transaction, which fails where it has to wait for another.
 */
export async function showChain(database: DatabaseServer, chain: DatabaseServer): Promise<void> {
  const { hostname, port, pathname, username, password } = new URL(chain.url);
  const text = (value: string) => `'${decodeURIComponent(value).replaceAll("'", "''")}'`;
  const place = `host ${text(hostname)}, port ${text(port)}, dbname ${text(pathname.slice(1))}`;
  await database.query(`
    create extension postgres_fdw;
    create server chain foreign data wrapper postgres_fdw options (${place}, fetch_size '10000', updatable 'false');
    create user mapping for current_user server chain options (user ${text(username)}, password ${text(password)});
    create schema simchain;
    import foreign schema simchain from server chain into simchain`);
}
