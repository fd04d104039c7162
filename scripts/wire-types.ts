import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { type App, apiRoutes, describeApi } from '../packages/server/src/app.ts';

const BANNER =
  '// Written from the OpenAPI document by scripts/sdk-types.ts: change the schemas, not this file.';
/** Routes are data: nothing of the app is touched before a handler runs. */
const UNOPENED = {} as App;

type Schemas = Record<string, JSONSchema>;

/** `#/components/schemas/X` → `#/definitions/X`, where the compiler looks. */
function relocate(schemas: Schemas): Schemas {
  return JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/definitions/'));
}

/** The compiler needs an object that holds all others; it comes first. */
const ROOT = 'export interface WireTypes {';
const END = '\n}\n';

/** TypeScript for every object of the API, in the wire's own names; of lists the SDK has one type, `Page`. */
export async function sdkTypes(): Promise<string> {
  const document = describeApi(apiRoutes(UNOPENED), 'https://florin.example') as {
    components: { schemas: Schemas };
  };
  const definitions = relocate(document.components.schemas);
  const names = Object.keys(definitions).filter((name) => !name.endsWith('List'));
  const root: JSONSchema = {
    title: 'WireTypes',
    type: 'object',
    additionalProperties: false,
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }])),
    definitions,
  };
  const types = await compile(root, 'WireTypes', {
    additionalProperties: false,
    bannerComment: BANNER,
    format: true,
    style: { singleQuote: true, printWidth: 110 },
    // A tuple for every length up to 200 items says no more than an array does.
    maxItems: -1,
    ignoreMinAndMaxItems: true,
    strictIndexSignatures: true,
  });
  const start = types.indexOf(ROOT);
  return types.slice(0, start) + types.slice(types.indexOf(END, start) + END.length);
}
