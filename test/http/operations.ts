import { randomUUID } from 'node:crypto';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  maxProperties?: number;
  items?: Schema;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  examples?: unknown[];
  additionalProperties?: unknown;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
}

/** A call as the OpenAPI document describes it: a new route is tested as soon as it is documented. */
export interface Operation {
  operationId: string;
  method: string;
  path: string;
  parameters: Parameter[];
  body: Schema | undefined;
  needsKey: boolean;
}

export interface Api {
  document: Record<string, unknown>;
  operations: Operation[];
  components: Record<string, Schema>;
  compile(schema: Schema): ValidateFunction;
}

interface OperationObject {
  operationId: string;
  parameters: Parameter[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
}
interface Document {
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema> };
}

/** Reads the document that a node serves. */
export async function loadApi(baseUrl: string): Promise<Api> {
  const response = await fetch(`${baseUrl}/openapi.json`);
  const document = (await response.json()) as Document & Record<string, unknown>;
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  // An annotation: what is checked are type and minimum.
  ajv.addFormat('unix-time', { type: 'number', validate: () => true });
  ajv.addSchema({ $id: 'openapi', components: document.components });
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operationId: operation.operationId,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters,
      body: operation.requestBody?.content['application/json'].schema,
      needsKey: operation.parameters.some(({ name, required }) => name === 'Idempotency-Key' && required),
    })),
  );
  const compile = (schema: Schema) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components')));
  return { document, operations, components: document.components.schemas, compile };
}

/** Texts for the patterns of this API, the first that fits is taken. */
const TEXTS = [
  'text',
  '1.00',
  'https://shop.example/',
  'id-1',
  'EUR',
  'a@shop.example',
  `0x${'0'.repeat(128)}`,
];

/** The schema itself, where a component is named. */
export function resolved(api: Api, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (api.components[schema.$ref.split('/').at(-1) ?? ''] ?? {});
}

/** A value that fits a schema: with nothing in it that is not required, or with every field. */
export function sampleOf(api: Api, given: Schema, fields: 'required' | 'all' = 'required'): unknown {
  const schema = resolved(api, given);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.anyOf !== undefined) return sampleOf(api, schema.anyOf[0] ?? {}, fields);
  if (schema.type === 'object') {
    const properties = Object.entries(schema.properties ?? {});
    const wanted = properties
      .filter(([name]) => fields === 'all' || schema.required?.includes(name))
      .slice(0, schema.maxProperties);
    return Object.fromEntries(wanted.map(([name, inner]) => [name, sampleOf(api, inner, fields)]));
  }
  if (schema.type === 'array') return [sampleOf(api, schema.items ?? {}, fields)];
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  const fits = api.compile(schema);
  const text = TEXTS.find((candidate) => fits(candidate));
  if (text === undefined) throw new Error(`no sample fits ${JSON.stringify(schema)}: add one to TEXTS`);
  return text;
}

/** A field of a body: where it lies, and what it may be. */
export interface Field {
  steps: (string | number)[];
  schema: Schema;
  required: boolean;
}

/** Every field of a body, the ones inside of objects and of the first entry of arrays too. */
export function fieldsOf(api: Api, given: Schema, steps: Field['steps'] = []): Field[] {
  const schema = resolved(api, given);
  if (schema.type === 'array') return fieldsOf(api, schema.items ?? {}, [...steps, 0]);
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    {
      steps: [...steps, name],
      schema: resolved(api, inner),
      required: schema.required?.includes(name) ?? false,
    },
    ...fieldsOf(api, inner, [...steps, name]),
  ]);
}

/** `items[0].amount`, as errors name a field. */
export const paramOf = (steps: Field['steps']) =>
  steps.reduce<string>(
    (path, step) => (typeof step === 'number' ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`),
    '',
  );

/** The JSON of a value with raw JSON text at one place of it, or without that place. */
export function jsonWith(value: unknown, steps: Field['steps'], raw: string | undefined): string {
  const [step, ...rest] = steps;
  if (step === undefined) return raw ?? 'null';
  if (Array.isArray(value)) return `[${value.map((entry) => jsonWith(entry, rest, raw)).join(',')}]`;
  const entries = Object.entries({ [step]: undefined, ...(value as object) });
  const texts = entries.flatMap(([name, inner]) => {
    if (name !== String(step)) return [`${JSON.stringify(name)}:${JSON.stringify(inner)}`];
    if (rest.length === 0 && raw === undefined) return [];
    return [`${JSON.stringify(name)}:${jsonWith(inner, rest, raw)}`];
  });
  return `{${texts.join(',')}}`;
}

/** Parameters of a path whose values name no resource. */
const NETWORK_PARAMETER = 'network';

/** Names of the resources that a path holds, such as `batch_id`. */
export function resourcesOf(operation: Operation): string[] {
  return operation.parameters
    .filter((parameter) => parameter.in === 'path' && parameter.name !== NETWORK_PARAMETER)
    .map(({ name }) => name);
}

export interface Call {
  url: string;
  path: string;
  options: { method: string; body?: string; headers?: Record<string, string> };
}

/**
 * A call with a body that fits.
 *
 * @param ids values of the path's parameters, as they are to stand in the path
 */
export function callOf(
  baseUrl: string,
  api: Api,
  operation: Operation,
  ids: Readonly<Record<string, string>> = {},
): Call {
  const path = operation.path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => ids[name] ?? (name === NETWORK_PARAMETER ? 'erc20' : `${name}_unknown`),
  );
  const { method, body } = operation;
  return {
    path,
    url: `${baseUrl}${path}`,
    options: {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(sampleOf(api, body)) }),
      ...(operation.needsKey ? { headers: { 'idempotency-key': randomUUID() } } : {}),
    },
  };
}

/** Whether free keys of the caller's may stand somewhere in its body. */
export function takesMetadata(api: Api, { body = {} }: Operation): boolean {
  return fieldsOf(api, body).some(({ steps }) => steps.at(-1) === 'metadata');
}
