import type { App } from '../app.ts';
import { Fail } from '../platform/fail.ts';
import { getMerchant, listMerchants, type Merchant } from '../stores/index.ts';
import { decodeId, type IdKind } from '../tenancy/index.ts';

/** Decodes an id that an operator typed. @throws Fail `resource_not_found` */
export function idOf(kind: IdKind, text: string): string {
  const id = decodeId(kind, text);
  if (id === undefined) throw new Fail('resource_not_found', `There is no ${text}.`);
  return id;
}

/** The named merchant, or the only one. @throws Fail if several exist and none is named */
export async function merchantBy(app: App, text: string | undefined): Promise<Merchant> {
  if (text !== undefined) return await getMerchant(app.db, idOf('merchant', text));
  const [only, ...others] = await listMerchants(app.db);
  if (only !== undefined && others.length === 0) return only;
  throw new Fail('invalid_request', {
    message:
      only === undefined ? 'There is no merchant yet.' : 'Several merchants exist: name one with --merchant.',
    param: 'merchant',
  });
}
