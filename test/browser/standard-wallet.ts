import type { Page } from 'playwright-core';
import type { SolanaEnvironment } from '../chains/solana/environment.ts';
import { WalletError } from './injected-wallet.ts';

type Answer = (value: string) => unknown;

/** Registers a wallet by the wallet standard, as extensions do, whose answers come from the test. */
const register = (facts: { name: string; address: string; chains: string[] }) => `(() => {
  const { name, address, chains } = ${JSON.stringify(facts)};
  const toText = (bytes) => btoa(String.fromCharCode(...bytes));
  const toBytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const ask = async (method, value) => {
    const { result, error } = await window.standardWallet(method, value);
    if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
    return toBytes(result);
  };
  const version = '1.0.0';
  const account = Object.freeze({ address, publicKey: new Uint8Array(32), chains, features: [] });
  const icon = 'data:image/svg+xml,' + encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 1h8v6H0z" fill="#94f"/></svg>');
  const wallet = Object.freeze({ version, name, icon, chains, accounts: [], features: {
    'standard:connect': { version, connect: async () => {
      await ask('connect', '');
      return { accounts: [account] };
    } },
    'standard:events': { version, on: () => () => {} },
    'solana:signAndSendTransaction': { version, supportedTransactionVersions: [0],
      signAndSendTransaction: async ({ transaction }) => [{ signature: await ask('send', toText(transaction)) }] },
    'solana:signMessage': { version, signMessage: async ({ message }) =>
      [{ signedMessage: message, signature: await ask('sign', toText(message)) }] },
  } });
  const join = ({ register }) => register(wallet);
  dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: join }));
  addEventListener('wallet-standard:app-ready', ({ detail }) => join(detail));
})()`;

/** A wallet of the payer's browser with a real key, on the local node. It does what it is asked unless a test says otherwise. */
export class InjectedStandardWallet {
  readonly address: string;
  /** What it was asked for. */
  readonly calls: string[] = [];
  readonly #local: SolanaEnvironment;
  readonly #name: string;
  readonly #answers = new Map<string, Answer>();

  /** @param name of its key */
  constructor(local: SolanaEnvironment, name: string) {
    this.#local = local;
    this.#name = name;
    this.address = local.wallet(name);
  }

  /** From now on it answers in another way. */
  answer(method: 'connect' | 'send' | 'sign', answer: Answer): void {
    this.#answers.set(method, answer);
  }

  /** Before the page loads. */
  readonly join = async (page: Page): Promise<void> => {
    await page.exposeFunction('standardWallet', async (method: string, value: string) => {
      this.calls.push(method);
      try {
        const own = this.#answers.get(method);
        const answered = await (own === undefined ? this.usual(method, value) : own(value));
        return { result: Buffer.from(answered as Uint8Array).toString('base64') };
      } catch (error) {
        const { code, message } = Object(error);
        return { error: { code, message: String(message) } };
      }
    });
    const of = (name: string, chains: string[]) => register({ name, address: this.address, chains });
    await page.addInitScript(of('Test Sun', ['solana:mainnet', 'solana:localnet']));
    await page.addInitScript(of('Elsewhere', ['solana:mainnet']));
  };

  /** Signs and sends; it lies in no block yet. */
  async usual(method: string, value: string): Promise<Uint8Array> {
    const bytes = Uint8Array.from(Buffer.from(value, 'base64'));
    if (method === 'sign') return this.#local.signAs(this.#name, bytes);
    if (method !== 'send') return new Uint8Array();
    await this.#local.sendAs(this.#name, bytes);
    return new Uint8Array(64);
  }

  /** The next time it is asked for that, its owner refuses; then it does it. */
  refuseOnce(method: 'connect' | 'send' | 'sign'): void {
    this.#answers.set(method, () => {
      this.#answers.delete(method);
      throw new WalletError(4001, 'User rejected the request.');
    });
  }
}
