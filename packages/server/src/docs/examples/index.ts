import type { ReferenceExamples } from '@florin/site';
import type { OperationExample, Route } from '../../platform/http/index.ts';
import ANSWERS from './answers.json' with { type: 'json' };
import { CHECKOUT_EXAMPLES } from './checkout.ts';
import type { Example, Examples } from './example.ts';
import { FRESH, IDS, PATH_VALUES } from './ids.ts';
import { PAYOUT_EXAMPLES } from './payouts.ts';
import { codeSamples } from './samples.ts';
import { SUBSCRIPTION_EXAMPLES } from './subscriptions.ts';
import { TEST_HELPER_EXAMPLES } from './test-helpers.ts';
import { WEBHOOK_EXAMPLES } from './webhooks.ts';

const EXAMPLES: Examples = {
  ...PAYOUT_EXAMPLES,
  ...WEBHOOK_EXAMPLES,
  ...CHECKOUT_EXAMPLES,
  ...SUBSCRIPTION_EXAMPLES,
  ...TEST_HELPER_EXAMPLES,
};

function exampleOf({ operationId }: Route): Example {
  const example = EXAMPLES[operationId];
  if (example === undefined) throw new Error(`${operationId} has no example`);
  return example;
}

function pathOf(route: Route, { query }: Example): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => PATH_VALUES[name] ?? '');
  return query === undefined ? path : `${path}?${new URLSearchParams(query).toString()}`;
}

/** What the OpenAPI document shows of an operation: a request, its answer, and the request as code. */
export function documentedExample(route: Route): OperationExample {
  const example = exampleOf(route);
  const path = pathOf(route, example);
  const answers: Readonly<Record<string, unknown>> = ANSWERS;
  const { query, body, refusedBySandbox } = example;
  return {
    path: PATH_VALUES,
    query: query ?? {},
    body,
    answer: answers[route.operationId],
    samples: codeSamples({ route, example, path }),
    note: refusedBySandbox === undefined ? undefined : `The sandbox refuses it: ${refusedBySandbox}.`,
  };
}

/** How the reference page makes what its examples name. */
export function referenceExamples(routes: readonly Route[]): ReferenceExamples {
  return {
    ids: Object.values(IDS),
    fresh: Object.values(FRESH),
    operations: Object.fromEntries(
      routes.map((route) => {
        const example = exampleOf(route);
        const { body, given = [], makes = {} } = example;
        return [
          route.operationId,
          { method: route.method, path: pathOf(route, example), body, given, makes },
        ];
      }),
    ),
  };
}
