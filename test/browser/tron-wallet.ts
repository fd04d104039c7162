import type { Page } from 'playwright-core';
import { TronWeb } from 'tronweb';
import { keyOf } from '../nodes/tron-client.ts';
import { ScriptedWallet } from './scripted-wallet.ts';

type Method = 'connect' | 'chain' | 'sign' | 'send' | 'text' | 'typed';

/** Puts a wallet of Tron into the page, announced (TIP-6963) or as older ones stand there, whose answers come from the test. */
const script = (facts: { isOld: boolean }) => `(() => {
  const { isOld } = ${JSON.stringify(facts)};
  const ask = async (method, value) => {
    const { result, error } = await window.tronWallet(method, JSON.stringify(value ?? null));
    if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
    return result;
  };
  const tronWeb = {
    defaultAddress: { base58: false },
    trx: {
      sign: (transaction) => ask('sign', transaction),
      sendRawTransaction: (signed) => ask('send', signed),
      signMessageV2: (text) => ask('text', text),
      _signTypedData: (domain, types, value) => ask('typed', { domain, types, value }),
      getBlockByNumber: () => ask('chain'),
    },
  };
  const provider = {
    tronWeb,
    request: async ({ method }) => {
      if (method !== (isOld ? 'tron_requestAccounts' : 'eth_requestAccounts')) throw new Error('no such method: ' + method);
      const answer = await ask('connect');
      [tronWeb.defaultAddress.base58] = answer;
      return isOld ? { code: 200, message: 'ok' } : answer;
    },
  };
  if (isOld) {
    window.tronLink = provider;
    return;
  }
  const info = Object.freeze({ uuid: '5c7c2f5e-0000-4000-8000-000000000001', name: 'Test Link', icon: '', rdns: 'test.link' });
  const announce = () =>
    dispatchEvent(new CustomEvent('TIP6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
  addEventListener('TIP6963:requestProvider', announce);
  announce();
})()`;

/** A wallet of the payer's browser with a real key and the library of Tron's wallets, on the local node. What it is asked is JSON. */
export class InjectedTronWallet extends ScriptedWallet<Method, string> {
  readonly address: string;
  readonly #web: TronWeb;
  readonly #genesis: string;

  /** @param name of its key */
  constructor(local: { node: { url: string }; network: { genesisHash: string } }, name: string) {
    super();
    const { secret, address } = keyOf(name);
    this.address = address;
    this.#web = new TronWeb({ fullHost: local.node.url, privateKey: secret });
    this.#genesis = local.network.genesisHash;
  }

  /** Its owner chooses another account in it. */
  switchTo(address: string): void {
    this.answer('connect', () => [address]);
  }

  override refuseOnce(method: Method): void {
    super.refuseOnce(method, 'Confirmation declined by user');
  }

  /** Before the page loads. */
  readonly join = async (page: Page, isOld = false): Promise<void> => {
    await this.expose(page, 'tronWallet');
    await page.addInitScript(script({ isOld }));
  };

  /** Signs as the library does, which compares the JSON with the bytes and their id, and sends. */
  async usual(method: Method, value: string): Promise<unknown> {
    const given = JSON.parse(value);
    const { trx } = this.#web;
    switch (method) {
      case 'connect':
        return [this.address];
      case 'chain':
        return { blockID: this.#genesis };
      case 'sign':
        return await trx.sign(given);
      case 'send':
        return await trx.sendRawTransaction(given);
      case 'text':
        return trx.signMessageV2(given);
      case 'typed':
        return trx._signTypedData(given.domain, given.types, given.value);
    }
  }
}
