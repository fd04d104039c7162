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
  items?: Schema;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
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
  ajv.addSchema({ $id: 'openapi', components: document.components });
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operationId: operation.operationId,
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters,
      body: operation.requestBody?.content['application/json'].schema,
      needsKey: operation.parameters.some(({ name }) => name === 'Idempotency-Key'),
    })),
  );
  const compile = (schema: Schema) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components')));
  return { document, operations, components: document.components.schemas, compile };
}

/** Texts for the patterns of this API, the first that fits is taken. */
const TEXTS = ['text', '1.00', 'https://shop.example/', 'id-1', 'EUR', 'a@shop.example'];

/** A value that fits a schema, with nothing in it that is not required. */
export function sampleOf(api: Api, schema: Schema): unknown {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return sampleOf(api, api.components[name] ?? {});
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return sampleOf(api, schema.anyOf[0] ?? {});
  if (schema.type === 'object') {
    const required = (schema.required ?? []).map((name) => [
      name,
      sampleOf(api, schema.properties?.[name] ?? {}),
    ]);
    return Object.fromEntries(required);
  }
  if (schema.type === 'array') return [sampleOf(api, schema.items ?? {})];
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  const fits = api.compile(schema);
  const text = TEXTS.find((candidate) => fits(candidate));
  if (text === undefined) throw new Error(`no sample fits ${JSON.stringify(schema)}: add one to TEXTS`);
  return text;
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
