import { apiRoutes } from '../../packages/server/src/app.ts';
import { referenceExamples } from '../../packages/server/src/docs/examples/index.ts';
import type { Route } from '../../packages/server/src/platform/http/index.ts';
import {
  type ApiRequest,
  makeExample,
  type ReferenceExamples,
} from '../../packages/site/src/client/prepare-example.ts';
import type { TestMerchant, TestService } from '../service.ts';
import { type Answer, send } from '../signed-request.ts';

/** Examples that only real money could answer. */
export const REFUSED_BY_SANDBOX = ['approvePayoutBatch', 'approveRefund'];

export interface Made {
  merchant: TestMerchant;
  request: ApiRequest;
  /** Puts the ids that were made in place of the example's. */
  fill: (text: string) => string;
}

/** Makes what each operation's example names, for merchants of their own. */
export class ExampleMaker {
  readonly routes: readonly Route[];
  readonly examples: ReferenceExamples;
  readonly #service: TestService;

  constructor(service: TestService) {
    this.#service = service;
    this.routes = apiRoutes(service.app, () => service.baseUrl);
    this.examples = referenceExamples(this.routes);
  }

  async make(operationId: string): Promise<Made> {
    const operation = this.examples.operations[operationId];
    if (operation === undefined) throw new Error(`${operationId} has no example`);
    const merchant = await this.#service.createMerchant();
    return { merchant, ...(await makeExample(operation, this.examples, (one) => this.send(merchant, one))) };
  }

  send(merchant: TestMerchant, { method, path, body }: ApiRequest): Promise<Answer> {
    return send(`${this.#service.baseUrl}${path}`, merchant, {
      method,
      ...(body === '' ? {} : { body }),
      headers: method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {},
    });
  }
}

/** Two at a time wait for blocks while others work. */
const LANES = 6;

export async function inLanes<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all];
  const lane = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
