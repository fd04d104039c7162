import { baseUnits } from './amounts.ts';
import { CursorList } from './cursor-list.ts';
import { segment, type Transport } from './transport.ts';
import type { Balances, FundInput, Network, PageQuery, SimulatedTransfer, TestAddresses } from './types.ts';

const PATH = '/test_helpers';

/** Sandbox merchants only: 403 for live ones. */
export class TestHelpers {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Adds to the balance and to the simulated custody. Has no idempotency key, so it is not repeated when in doubt. */
  async fund(input: FundInput): Promise<Balances> {
    const body = { ...input, amount: baseUnits(input.amount) };
    return this.#transport.send({ method: 'POST', path: `${PATH}/fund`, body, onDoubt: 'stop' });
  }

  /** Payout addresses whose transfers succeed, fail, get stuck or are refused for risk. */
  addresses(): Promise<TestAddresses> {
    return this.#transport.send({ method: 'GET', path: `${PATH}/addresses`, onDoubt: 'repeat' });
  }

  /** What the simulated chain itself holds, of one address or of all. */
  transfers(network: Network, address?: string, page: PageQuery = {}): CursorList<SimulatedTransfer> {
    const query = address === undefined ? page : { ...page, address };
    const path = `${PATH}/chains/${segment(network)}/transfers`;
    return new CursorList(this.#transport, path, query, (transfer) => transfer.id);
  }
}
