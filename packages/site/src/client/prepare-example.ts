/** A call that comes before a request. It is repeated until its answer has what it makes, and what is waited for. */
export interface ExampleStep {
  /** An operation, whose example is the request. */
  call: string;
  /** In place of the example's body. */
  body?: object;
  /** What its answer has in the end, by place. */
  until?: Readonly<Record<string, string>>;
}

interface ReferenceOperation {
  method: string;
  /** With example ids, and the query. */
  path: string;
  body?: object | undefined;
  given: readonly ExampleStep[];
  /** Example ids by the place in the answer where the real one is, such as `data.0.id`. */
  makes: Readonly<Record<string, string>>;
}

/** What has to be there before each example of the API reference can be sent. */
export interface ReferenceExamples {
  ids: readonly string[];
  /** Texts of examples that can be used once: each try has others. */
  fresh: readonly string[];
  operations: Readonly<Record<string, ReferenceOperation>>;
}

export interface ApiRequest {
  method: string;
  /** With the query. */
  path: string;
  body: string;
}

export interface ApiAnswer {
  status: number;
  text: string;
}

const TRIES = 200;
const PAUSE_MS = 300;

function valueAt(value: unknown, place: string): unknown {
  return place
    .split('.')
    .reduce<unknown>(
      (inner, name) =>
        typeof inner === 'object' && inner !== null
          ? Object.entries(inner).find(([key]) => key === name)?.[1]
          : undefined,
      value,
    );
}

/** Example texts and what stands for them in this try. */
class Known {
  readonly #real = new Map<string, string>();
  readonly #examples: ReferenceExamples;

  constructor(examples: ReferenceExamples) {
    this.#examples = examples;
    for (const text of examples.fresh) this.#real.set(text, `${text}-${crypto.randomUUID().slice(0, 8)}`);
  }

  request({ method, path, body }: Pick<ReferenceOperation, 'method' | 'path' | 'body'>): ApiRequest {
    return { method, path: this.fill(path), body: body === undefined ? '' : this.fill(JSON.stringify(body)) };
  }

  fill(text: string): string {
    let filled = text;
    for (const [example, real] of this.#real) filled = filled.replaceAll(example, real);
    return filled;
  }

  /** @returns whether the answer had all that the call makes */
  learn(call: string, answer: unknown): boolean {
    const made = Object.entries(this.#examples.operations[call]?.makes ?? {}).map(
      ([example, place]) => [example, valueAt(answer, place)] as const,
    );
    for (const [example, real] of made) if (typeof real === 'string') this.#real.set(example, real);
    return made.every(([, real]) => typeof real === 'string');
  }
}

/** Runs the calls that come before the example of an operation. @returns its request with the real ids in it */
export async function makeExample(
  operation: ReferenceOperation,
  examples: ReferenceExamples,
  send: (request: ApiRequest) => Promise<ApiAnswer>,
): Promise<{ request: ApiRequest; fill: (text: string) => string }> {
  const known = new Known(examples);
  for (const step of operation.given) await make(step, { examples, known, send });
  return { request: known.request(operation), fill: (text) => known.fill(text) };
}

/**
 * Makes what the example request of an operation names and puts the real ids in place of the example's. A request that names
 * nothing of the example, or has ids of somebody's own in it, is left as it is.
 */
export async function prepareExample(
  request: ApiRequest,
  examples: ReferenceExamples,
  send: (request: ApiRequest) => Promise<ApiAnswer>,
): Promise<ApiRequest> {
  const [address] = request.path.split('?', 1);
  const operation = Object.values(examples.operations).find(
    ({ method, path }) => method === request.method && path.split('?', 1)[0] === address,
  );
  if (operation === undefined) return request;
  const shown = `${operation.path}${JSON.stringify(operation.body ?? {})}`;
  const named = [...examples.ids, ...examples.fresh].filter((text) => shown.includes(text));
  const isAsShown = named.every((text) => `${request.path}${request.body}`.includes(text));
  if (named.length === 0 || !isAsShown) return request;
  const { fill } = await makeExample(operation, examples, send);
  return { method: request.method, path: fill(request.path), body: fill(request.body) };
}

async function make(
  { call, body: given, until = {} }: ExampleStep,
  {
    examples,
    known,
    send,
  }: { examples: ReferenceExamples; known: Known; send: (request: ApiRequest) => Promise<ApiAnswer> },
): Promise<void> {
  const operation = examples.operations[call];
  if (operation === undefined) throw new Error(`There is no operation ${call}.`);
  const { method, path, body } = operation;
  for (let tries = 0; tries < TRIES; tries++) {
    const { status, text } = await send(known.request({ method, path, body: given ?? body }));
    if (status !== 200) throw new Error(`${call}, which comes before the request, was refused: ${text}`);
    const answer: unknown = JSON.parse(text);
    const isReached = Object.entries(until).every(([place, wanted]) => valueAt(answer, place) === wanted);
    if (known.learn(call, answer) && isReached) return;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new Error(`${call}, which comes before the request, has not made what it needs.`);
}
