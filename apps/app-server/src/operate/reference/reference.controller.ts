import { createHash } from 'node:crypto';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { openApi } from '@slipway/contracts/openapi';
import { notFound } from '@slipway/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuthenticatesItself } from '../../http/serves.js';
import { type Asset, asset, readAsset } from './reference.assets.js';

/**
 * What the page may do: our scripts, our document, and no script that is written into a page. The renderer sets styles
 * on its elements.
 */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The REST document of this very server, and a page to read it. Public: it describes the API and holds no data. */
@Controller()
@AuthenticatesItself('the same for all, signed in or not')
export class ReferenceController {
  /** Made when they are first asked for: about a hundred milliseconds each, once a process. */
  private readonly made = new Map<string, Asset & { readonly etag: string }>();

  @Get('/api/v1/openapi.json')
  document(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Buffer | undefined {
    return this.send(request, reply, 'openapi.json', () =>
      asset('application/json; charset=utf-8', JSON.stringify(openApi().document)),
    );
  }

  @Get('/docs/api')
  page(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Buffer | undefined {
    return this.file(request, reply, '');
  }

  @Get('/docs/api/:file')
  file(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Param('file') name: string,
  ): Buffer | undefined {
    void reply.header('content-security-policy', PAGE_POLICY);
    return this.send(request, reply, name, () => readAsset(name));
  }

  private send(
    request: FastifyRequest,
    reply: FastifyReply,
    name: string,
    make: () => Asset | null,
  ): Buffer | undefined {
    let found = this.made.get(name);
    if (found === undefined) {
      const fresh = make();
      if (fresh === null) throw notFound();
      found = { ...fresh, etag: `"${createHash('sha256').update(fresh.body).digest('base64url').slice(0, 22)}"` };
      this.made.set(name, found);
    }
    void reply.headers({ etag: found.etag, 'cache-control': 'no-cache', vary: 'accept-encoding' }).type(found.type);
    if (request.headers['if-none-match'] === found.etag) {
      void reply.code(304);
      return undefined;
    }
    const accepted = String(request.headers['accept-encoding'] ?? '');
    if (/\bbr\b/.test(accepted)) {
      void reply.header('content-encoding', 'br');
      return found.brotli;
    }
    if (/\bgzip\b/.test(accepted)) {
      void reply.header('content-encoding', 'gzip');
      return found.gzip;
    }
    return found.body;
  }
}
