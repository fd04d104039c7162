import type { Page } from 'playwright-core';
import { signAs, walletOf } from '../chains/solana/named-wallets.ts';
import { ScriptedWallet } from './scripted-wallet.ts';

const SIGNATURE_BYTES = 64;
type Method = 'connect' | 'send' | 'sign';

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
  const accountOf = (address) => Object.freeze({ address, publicKey: new Uint8Array(32), chains, features: [] });
  const icon = 'data:image/svg+xml,' + encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 1h8v6H0z" fill="#94f"/></svg>');
  const wallet = Object.freeze({ version, name, icon, chains, accounts: [], features: {
    'standard:connect': { version, connect: async () => {
      const chosen = String.fromCharCode(...await ask('connect', ''));
      return { accounts: [accountOf(chosen === '' ? address : chosen)] };
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

/** Signs a transaction of one signer, whose key has the name, and sends it. */
interface SendsAs {
  sendAs(name: string, transaction: Uint8Array): Promise<string>;
}

/** A wallet of the payer's browser with a real key, on a local node. */
export class InjectedStandardWallet extends ScriptedWallet<Method, string> {
  readonly address: string;
  readonly #local: SendsAs;
  readonly #name: string;

  /** @param name of its key */
  constructor(local: SendsAs, name: string) {
    super();
    this.#local = local;
    this.#name = name;
    this.address = walletOf(name);
  }

  /** Before the page loads. */
  readonly join = async (page: Page): Promise<void> => {
    await this.expose(page, 'standardWallet');
    const of = (name: string, chains: string[]) => register({ name, address: this.address, chains });
    await page.addInitScript(of('Test Sun', ['solana:mainnet', 'solana:localnet']));
    await page.addInitScript(of('Elsewhere', ['solana:mainnet']));
  };

  /** Its owner chooses another account in it. */
  switchTo(address: string): void {
    this.answer('connect', () => Buffer.from(address).toString('base64'));
  }

  /** Signs and sends; it lies in no block yet. Bytes are in base64. */
  async usual(method: Method, value: string): Promise<string> {
    const bytes = Uint8Array.from(Buffer.from(value, 'base64'));
    if (method === 'sign') return base64Of(signAs(this.#name, bytes));
    if (method !== 'send') return '';
    await this.#local.sendAs(this.#name, bytes);
    return base64Of(signAs(this.#name, bytes.subarray(1 + SIGNATURE_BYTES)));
  }
}

const base64Of = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
