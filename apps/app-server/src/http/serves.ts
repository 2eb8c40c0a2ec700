import { applyDecorators, Header, HttpCode, RequestMapping, RequestMethod, SetMetadata } from '@nestjs/common';
import type { Operation } from '@slipway/contracts/operations';

export const OPERATION = Symbol('operation');
export const PROVES_ITSELF = Symbol('proves-itself');

/**
 * Makes a method of a `@Controller()` (without a prefix) the handler of one operation of the contract: method, path,
 * success status, media type, permission, schemas and idempotency come from there.
 *
 * @param alias another path for the same operation. One without `{org}` works in the caller's personal organization.
 */
export function Serves(operation: Operation, alias?: { readonly path: string }): MethodDecorator {
  const path = (alias?.path ?? operation.path).replaceAll(/\{(\w+)\}/g, ':$1');
  return applyDecorators(
    RequestMapping({ method: RequestMethod[operation.method], path }),
    HttpCode(operation.status),
    SetMetadata(OPERATION, operation),
    // `*/*`: the handler says which it is.
    ...(operation.produces === undefined || operation.produces === '*/*'
      ? []
      : [
          Header(
            'content-type',
            operation.produces === 'text/plain' ? 'text/plain; charset=utf-8' : operation.produces,
          ),
        ]),
  );
}

/**
 * A handler outside the operations, that decides by itself who may call it. `reason` says how.
 * A handler with neither this nor `@Serves` is refused: nothing is open by omission.
 */
export const AuthenticatesItself = (reason: string): MethodDecorator & ClassDecorator =>
  SetMetadata(PROVES_ITSELF, reason);
