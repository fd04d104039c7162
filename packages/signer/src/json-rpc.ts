import type { Static, TSchema } from 'typebox';
import { shapedAs } from './shape.ts';

const TIMEOUT_MS = 5_000;

/** Asks a node of the operator's own. @throws Error where it gives no such answer */
export async function callNode<const Shape extends TSchema>(
  node: string,
  method: string,
  params: readonly unknown[],
  shape: Shape,
): Promise<Static<Shape>> {
  const answer = await fetch(node, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  });
  const body: unknown = await answer.json();
  const result: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'result') : undefined;
  return shapedAs(shape, result, (fault) => new Error(`${method}: ${fault}`));
}
