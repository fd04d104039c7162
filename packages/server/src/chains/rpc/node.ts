export interface NodeRequest {
  method: string;
  params: readonly unknown[];
  /** An earlier answer was too large. As a single request it gets the longer timeout. */
  isLarge?: boolean;
  /** A node may lack the call, and be of use all the same: a status of HTTP that says so is its refusal. */
  isOptional?: boolean;
}

/**
 * The JSON-RPC of one network. Parameters and results are JSON as its nodes take and give it.
 *
 * @throws ChainUnavailable where no endpoint gives a usable answer
 * @throws NodeError where the node refuses the call
 */
export interface RpcNode {
  /** One answer is enough: for what decides no money, and for what is compared with stored facts anyway. */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Two endpoints must give the same answer, or one that is the operator's own: for whatever decides money. */
  agreed(method: string, params: readonly unknown[]): Promise<unknown>;
  /**
   * Many calls at once, in the order of the requests, all answered by one endpoint. Each answer counts for itself: where
   * the node refuses a call, its place holds the `NodeError`.
   */
  callMany(requests: readonly NodeRequest[]): Promise<unknown[]>;
  /** As `callMany`, and as `agreed` for all of the answers together. */
  agreedMany(requests: readonly NodeRequest[]): Promise<unknown[]>;
}

/** The node answered with an error of JSON-RPC: its outcome is known, unlike that of an endpoint that is away. */
export class NodeError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
