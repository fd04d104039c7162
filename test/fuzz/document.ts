import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** The keywords that schemas of this API use; the generator refuses others. */
export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  uniqueItems?: boolean;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  description?: string;
  default?: unknown;
  examples?: unknown[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
}

export interface Documented {
  /** Error codes that the document names for the status; none for 200. */
  codes: ReadonlySet<string>;
  /** Undefined: the answer is a stream. */
  fits: ValidateFunction | undefined;
}

/** A call as the document describes it, and no line of the product's code. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  parameters: readonly Parameter[];
  body: Schema | undefined;
  bodyRequired: boolean;
  fitsBody: ValidateFunction | undefined;
  answers: ReadonlyMap<number, Documented>;
}

export interface Contract {
  operations: readonly Operation[];
  components: Readonly<Record<string, Schema>>;
  fits(schema: Schema): ValidateFunction;
}

interface Content {
  content: { 'application/json': { schema: Schema } };
}
interface Answered {
  description: string;
  content: { 'application/json'?: { schema: Schema } };
}
interface OperationObject {
  operationId: string;
  parameters: Parameter[];
  requestBody?: Content & { required: boolean };
  responses: Record<string, Answered>;
}
interface Document {
  paths: Record<string, Record<string, OperationObject>>;
  components: { schemas: Record<string, Schema> };
}

/** `[invalid_request](https://…/invalid_request), [conflict](…)` → both names. */
const codesIn = (description: string) => new Set(description.match(/(?<=\[)[A-Za-z_]+(?=\]\()/g) ?? []);

/** Reads the document that a node serves, and compiles each schema of it as strictly as Ajv can. */
export async function readContract(baseUrl: string): Promise<Contract> {
  const response = await fetch(`${baseUrl}/openapi.json`);
  const { paths, components } = (await response.json()) as Document;
  const ajv = new Ajv2020({ strict: true, strictTypes: true, strictTuples: true });
  // An annotation: what is checked are type and minimum.
  ajv.addFormat('unix-time', { type: 'number', validate: () => true });
  ajv.addVocabulary(['components']);
  ajv.addSchema({ $id: 'openapi', components });
  const compiled = new Map<string, ValidateFunction>();
  const fits = (schema: Schema) => {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components');
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
    compiled.set(text, validate);
    return validate;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => {
      const body = operation.requestBody?.content['application/json'].schema;
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        parameters: operation.parameters,
        body,
        bodyRequired: operation.requestBody?.required ?? false,
        fitsBody: body && fits(body),
        answers: new Map(
          Object.entries(operation.responses).map(([status, { description, content }]) => [
            Number(status),
            {
              codes: codesIn(description),
              fits: content['application/json'] && fits(content['application/json'].schema),
            },
          ]),
        ),
      };
    }),
  );
  return { operations, components: components.schemas, fits };
}
