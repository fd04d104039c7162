import { EndpointFailed, parseBody, type RpcAnswer, type RpcWire, withoutUrls } from '../rpc/messages.ts';
import { NodeError } from '../rpc/node.ts';

/** Each call is a POST to a path of its own. */
export const TRON_HTTP: RpcWire = {
  takesBatches: false,
  takesErrorStatus: false,
  path: ([request]) => request?.method ?? '',
  write: ([request]) => JSON.stringify(request?.params[0] ?? {}),
  read: (body) => [readAnswer(parseBody(body))],
};

/** A node that throws says so with status 200 and `{"Error": "class … : …"}`; what it does not have is `{}`. */
function readAnswer(answer: unknown): RpcAnswer {
  if (typeof answer !== 'object' || answer === null)
    throw new EndpointFailed('not_json', 'answered something else than an object');
  if (!('Error' in answer)) return { result: answer };
  const text = withoutUrls(String(answer.Error));
  if (/rate exceeded|too many requests|frequen/i.test(text))
    throw new EndpointFailed('busy', 'limits the rate of calls');
  return { refusal: new NodeError(0, text) };
}
