import type { Network } from '@florin/contract/money';
import { ChainUnavailable } from '../port/port-errors.ts';
import { NodeError } from './node.ts';

/** Reads what nodes of a network answer, field by field: anything but the expected form is `ChainUnavailable`. */
export interface AnswerReader {
  unusable: (detail: string) => ChainUnavailable;
  readRecord: (value: unknown, name: string) => Record<string, unknown>;
  readList: (value: unknown, name: string) => unknown[];
  /** Where a refusal says nothing: a node that refuses is as good as away. */
  readResult: (answer: unknown) => unknown;
  orUnavailable: <T>(answer: Promise<T>) => Promise<T>;
}

export function answerReader(network: Network): AnswerReader {
  const unusable = (detail: string) =>
    new ChainUnavailable(network, `the node's answer is unusable: ${detail}`);
  const refused = (error: NodeError) =>
    new ChainUnavailable(network, `the node refuses a call: ${error.message}`, error);
  return {
    unusable,
    readRecord(value, name) {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw unusable(`${name} is not an object`);
      return { ...value };
    },
    readList(value, name) {
      if (!Array.isArray(value)) throw unusable(`${name} is not a list`);
      return value;
    },
    readResult(answer) {
      if (answer instanceof NodeError) throw refused(answer);
      return answer;
    },
    async orUnavailable(answer) {
      try {
        return await answer;
      } catch (error) {
        throw error instanceof NodeError ? refused(error) : error;
      }
    },
  };
}
