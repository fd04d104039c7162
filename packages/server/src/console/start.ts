import type { PageRequest } from '../platform/http/pages/index.ts';
import { listStores } from '../stores/index.ts';
import { callerOf, sessionOf } from './authenticate.ts';
import type { Place } from './routes/own.ts';
import { readMe } from './routes/read-me.ts';
import { presentStore } from './routes/store-routes.ts';

/**
 * What the application would ask for first, for its own document: who is signed in, and the stores of the address's
 * merchant. Undefined for whoever is not signed in, for anything that is no document, and when it cannot be read: then the
 * application asks, and shows what is wrong.
 */
export async function readStart({ deps, publicUrl }: Place, { headers, url }: PageRequest) {
  if (headers['sec-fetch-dest'] !== 'document') return undefined;
  try {
    const { token, session } = await sessionOf(deps, { method: 'GET', headers }, publicUrl());
    const [, , named = ''] = url.split(/[/?]/);
    const [me, { caller }] = await Promise.all([
      readMe(deps, { userId: session.user_id, token }),
      callerOf(deps, session, { merchant: named }),
    ]);
    const maySee = caller.actor.kind === 'user' && caller.actor.permissions.includes('see');
    if (!maySee) return { me };
    const stores = (await listStores(deps, caller.merchantId)).map(presentStore);
    return { me, merchant: { id: named, stores } };
  } catch {
    return undefined;
  }
}
