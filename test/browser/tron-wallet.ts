import type { Page } from 'playwright-core';
import { TronWeb } from 'tronweb';
import type { TronEnvironment } from '../chains/tron/environment.ts';
import { keyOf } from '../nodes/tron-stage.ts';
import { WalletError } from './injected-wallet.ts';

type Method = 'connect' | 'chain' | 'sign' | 'send' | 'text';
type Answer = (value: string) => unknown;

/** Puts a wallet of Tron into the page, announced (TIP-6963) or as older ones stand there, whose answers come from the test. */
const script = (facts: { address: string; isOld: boolean }) => `(() => {
  const { address, isOld } = ${JSON.stringify(facts)};
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
      getBlockByNumber: () => ask('chain'),
    },
  };
  const provider = {
    tronWeb,
    request: async ({ method }) => {
      if (method !== (isOld ? 'tron_requestAccounts' : 'eth_requestAccounts')) throw new Error('no such method: ' + method);
      const answer = await ask('connect');
      tronWeb.defaultAddress.base58 = address;
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

/** A wallet of the payer's browser with a real key and the library of Tron's wallets, on the local node. */
export class InjectedTronWallet {
  readonly address: string;
  /** What it was asked for. */
  readonly calls: Method[] = [];
  readonly #web: TronWeb;
  readonly #genesis: string;
  readonly #answers = new Map<Method, Answer>();

  /** @param name of its key */
  constructor(local: TronEnvironment, name: string) {
    const { secret, address } = keyOf(name);
    this.address = address;
    this.#web = new TronWeb({ fullHost: local.node.url, privateKey: secret });
    this.#genesis = local.network.genesisHash;
  }

  /** From now on it answers in another way. */
  answer(method: Method, answer: Answer): void {
    this.#answers.set(method, answer);
  }

  /** The next time it is asked for that, its owner refuses; then it does it. */
  refuseOnce(method: Method): void {
    this.#answers.set(method, () => {
      this.#answers.delete(method);
      throw new WalletError(4001, 'Confirmation declined by user');
    });
  }

  /** Before the page loads. */
  readonly join = async (page: Page, isOld = false): Promise<void> => {
    await page.exposeFunction('tronWallet', async (method: Method, value: string) => {
      this.calls.push(method);
      try {
        const own = this.#answers.get(method);
        return { result: await (own === undefined ? this.usual(method, value) : own(value)) };
      } catch (error) {
        const { code, message } = Object(error);
        return { error: { code, message: String(message ?? error) } };
      }
    });
    await page.addInitScript(script({ address: this.address, isOld }));
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
    }
  }
}
