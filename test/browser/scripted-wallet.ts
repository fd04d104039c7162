import type { Page } from 'playwright-core';

/** As wallets refuse, with a code. */
export class WalletError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
export const refusal = (message = 'User rejected the request.') => new WalletError(4001, message);

/** A wallet of the payer's browser. It does what it is asked unless a test says otherwise. */
export abstract class ScriptedWallet<Method extends string, Asked> {
  /** What it was asked for. */
  readonly calls: Method[] = [];
  readonly #answers = new Map<Method, (asked: Asked) => unknown>();

  abstract usual(method: Method, asked: Asked): Promise<unknown>;

  /** From now on it answers in another way. */
  answer(method: Method, answer: (asked: Asked) => unknown): void {
    this.#answers.set(method, answer);
  }

  /** The next time it is asked for that, its owner refuses; then it does it. */
  refuseOnce(method: Method, message?: string): void {
    this.#answers.set(method, () => {
      this.#answers.delete(method);
      throw refusal(message);
    });
  }

  /** Gives the page a function that asks this wallet: it resolves to what the wallet answers, or to its error. */
  protected async expose(page: Page, name: string): Promise<void> {
    await page.exposeFunction(name, async (method: Method, asked: Asked) => {
      this.calls.push(method);
      try {
        const own = this.#answers.get(method);
        return { result: await (own === undefined ? this.usual(method, asked) : own(asked)) };
      } catch (error) {
        const { code, message } = Object(error);
        return { error: { code, message: String(message ?? error) } };
      }
    });
  }
}
