import type { App } from '../app.ts';
import { users } from '../console/accounts/index.ts';
import { openLiveAccount } from '../custody/index.ts';
import { NIL_ID } from '../platform/db/ids/index.ts';
import { isoOf } from '../platform/db/index.ts';
import { Fail, invariant } from '../platform/fail.ts';
import * as storeApprovers from '../stores/approvers/index.ts';
import * as branding from '../stores/branding/index.ts';
import * as stores from '../stores/index.ts';
import { listKeys } from '../stores/key-lists/index.ts';
import * as storeKeys from '../stores/keys/index.ts';
import { encodeId } from '../tenancy/index.ts';
import { idOf, merchantBy } from './context.ts';

const seconds = (value: bigint | number) => isoOf(Number(value) * 1000);

const showMerchant = (merchant: stores.Merchant) => ({
  merchant_id: encodeId('merchant', merchant.merchantId),
  name: merchant.name,
  mode: merchant.mode,
  status: merchant.status,
  created_at: seconds(merchant.createdAt),
});

export function merchantCommands(app: App) {
  const setStatus = (status: 'active' | 'suspended') => async (merchant: string) => {
    const { merchantId } = await merchantBy(app, merchant);
    await stores.setMerchantStatus(app, merchantId, status);
    return showMerchant(await stores.getMerchant(app.db, merchantId));
  };
  return {
    /** A live merchant gets its account on each network that is set up. */
    create: async (input: { name: string; mode: 'sandbox' | 'live' }) => {
      const merchant = await stores.createMerchant(app, input);
      if (merchant.mode === 'live') await openLiveAccount(app, merchant.merchantId);
      return showMerchant(merchant);
    },
    list: async () => (await stores.listMerchants(app.db)).map(showMerchant),
    suspend: setStatus('suspended'),
    resume: setStatus('active'),
  };
}

type StoreRow = Awaited<ReturnType<typeof stores.listStores>>[number];
const showStore = (store: StoreRow) => ({
  store_id: encodeId('store', store.store_id),
  merchant_id: encodeId('merchant', store.merchant_id),
  name: store.name,
  channel_type: store.channel_type,
  review_status: store.review_status,
  enabled: store.enabled,
  accent: store.accent,
  support: store.support,
  terms: store.terms_url,
  logo: branding.brandOf(store).logo?.path ?? null,
  created_at: seconds(store.created_at),
});

export function storeCommands(app: App) {
  const locate = async (store: string) => ({
    merchantId: await stores.merchantOf(app.db, 'store', store),
    storeId: idOf('store', store),
  });
  const read = async (key: { merchantId: string; storeId: string }) => {
    const all = await stores.listStores(app, key.merchantId);
    const row = all.find((store) => store.store_id === key.storeId);
    invariant(row, 'stores are never deleted');
    return row;
  };
  const show = async (key: { merchantId: string; storeId: string }) => showStore(await read(key));
  const showWebhookKey = async (storeKey: { merchantId: string; storeId: string }) => {
    const row = await read(storeKey);
    const keyOf = (id: string | null) => (id === null ? null : encodeId('key', id));
    const overlaps = Number(row.previous_webhook_key_until_ms ?? 0) > app.clock.nowMs();
    return {
      store_id: encodeId('store', row.store_id),
      webhook_key: keyOf(row.webhook_key_id),
      signs_now: keyOf(overlaps ? row.previous_webhook_key_id : row.webhook_key_id),
      overlap_ends_at: overlaps ? isoOf(row.previous_webhook_key_until_ms) : null,
    };
  };
  const change = (change: stores.StoreChange) => async (store: string) => {
    const key = await locate(store);
    await stores.changeStore(app, key, change);
    return await show(key);
  };
  const changeBrand = async (store: string, change: branding.BrandChange) => {
    const key = await locate(store);
    await branding.changeBrand(app, key, change);
    return await show(key);
  };
  return {
    create: async (input: { merchant?: string | undefined; name: string; channelType: 'api' | 'hosted' }) => {
      const { merchantId } = await merchantBy(app, input.merchant);
      const { name, channelType } = input;
      return await show({
        merchantId,
        storeId: await stores.createStore(app, { merchantId, name, channelType }),
      });
    },
    list: async (merchant?: string) => {
      const merchantId = merchant === undefined ? undefined : (await merchantBy(app, merchant)).merchantId;
      return (await stores.listStores(app, merchantId)).map(showStore);
    },
    review: async (store: string, reviewStatus: 'approved' | 'rejected') =>
      await change({ reviewStatus })(store),
    enable: change({ enabled: true }),
    disable: change({ enabled: false }),
    /** How the store presents itself to payers; null takes a value away. */
    rename: (store: string, name: string) => changeBrand(store, { name }),
    setLogo: (store: string, logo: Buffer | null) => changeBrand(store, { logo }),
    setAccent: (store: string, accent: string | null) => changeBrand(store, { accent }),
    setSupport: (store: string, support: string | null) => changeBrand(store, { support }),
    setTerms: (store: string, terms: string | null) => changeBrand(store, { terms }),
    /** The key whose secret signs the store's webhooks. */
    webhookKey: async (store: string) => await showWebhookKey(await locate(store)),
    setWebhookKey: async (store: string, key: string, overlapSeconds: number) => {
      const storeKey = await locate(store);
      await storeKeys.setWebhookKey(app, storeKey, { keyId: idOf('key', key), overlapSeconds });
      return await showWebhookKey(storeKey);
    },
    confirmWebhookKey: async (store: string) => {
      const storeKey = await locate(store);
      await storeKeys.confirmWebhookKey(app, storeKey);
      return await showWebhookKey(storeKey);
    },
  };
}

export interface NewKey {
  store: string;
  name: string;
  /** 0: never expires. */
  validityDays: number;
  scopes: readonly string[];
  owner?: string | undefined;
}

export function keyCommands(app: App) {
  const locate = async (key: string) => ({
    merchantId: await stores.merchantOf(app.db, 'api_key', key),
    keyId: idOf('key', key),
  });
  return {
    /** The secrets are returned only here. */
    create: async ({ store, name, validityDays, scopes, owner }: NewKey) => {
      const merchantId = await stores.merchantOf(app.db, 'store', store);
      const storeId = idOf('store', store);
      const ownerName = owner === undefined ? {} : { ownerName: owner };
      const made = await storeKeys.createKey(app, {
        merchantId,
        storeId,
        name,
        validityDays,
        scopes,
        ...ownerName,
      });
      return { key_id: encodeId('key', made.keyId), api_key: made.apiKey, secret_key: made.secretKey };
    },
    list: async (merchant?: string) => {
      const merchantId = merchant === undefined ? undefined : (await merchantBy(app, merchant)).merchantId;
      return await listKeys(app, { merchantId });
    },
    rotate: async (key: string, overlapSeconds: number) => ({
      key_id: key,
      secret_key: await storeKeys.rotateKey(app, await locate(key), overlapSeconds),
      overlap_seconds: overlapSeconds,
    }),
    revoke: async (key: string) => {
      await storeKeys.revokeKey(app, await locate(key));
      return { key_id: key, revoked: true };
    },
  };
}

/** People who decide for one merchant, or for the installation. */
function peopleOf(app: App, ownerOf: (merchant: string | undefined) => Promise<string>) {
  return {
    /** The token is returned only here. */
    add: async (name: string, merchant?: string) => {
      const merchantId = await ownerOf(merchant);
      return { name, token: await storeApprovers.addApprover(app, merchantId, name) };
    },
    /** Registers the key by which an approver's signatures are known; one who is new gets a token as well. */
    addKey: async (name: string, publicKey: string, merchant?: string) => {
      const merchantId = await ownerOf(merchant);
      const isKnown = await storeApprovers.approverKeys.setApproverKey(app, merchantId, { name, publicKey });
      const token = isKnown ? null : await storeApprovers.addApprover(app, merchantId, name, publicKey);
      return { name, key: publicKey, ...(token !== null && { token }) };
    },
    list: async (merchant?: string) => {
      const merchantId = await ownerOf(merchant);
      const approvers = await storeApprovers.listApprovers(app, merchantId);
      return approvers.map((approver) => ({
        approver_id: encodeId('approver', approver.approver_id),
        name: approver.name,
        key: approver.public_key,
        looks_like: approver.looks_like,
        user_id: approver.user_id === null ? null : encodeId('user', approver.user_id),
        created_at: seconds(approver.created_at),
      }));
    },
    /** Says by which address they sign in to the console. */
    link: async (name: string, email: string, merchant?: string) => {
      const merchantId = await ownerOf(merchant);
      const user = await users.findUserByEmail(app.db, users.normalEmail(email));
      if (user === undefined) throw new Fail('resource_not_found', `There is no user ${email}.`);
      await storeApprovers.linkApprover(app, merchantId, { name, userId: user.user_id });
      return { name, user_id: encodeId('user', user.user_id) };
    },
    remove: async (name: string, merchant?: string) => {
      const merchantId = await ownerOf(merchant);
      await storeApprovers.removeApprover(app, merchantId, name);
      return { name, removed: true };
    },
  };
}

export const approverCommands = (app: App) =>
  peopleOf(app, async (merchant) => (await merchantBy(app, merchant)).merchantId);

/** Two of them resume networks of real money and adopt databases and journals, which concerns every merchant. */
export const installationApproverCommands = (app: App) =>
  peopleOf(app, async (merchant) => {
    if (merchant === undefined) return NIL_ID;
    const message = 'An approver is of one merchant or of the installation.';
    throw new Fail('invalid_request', { message, param: 'merchant' });
  });
