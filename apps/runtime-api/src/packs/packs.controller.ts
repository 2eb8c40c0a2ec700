import { Body, Controller, Get, HttpCode, Inject, Post, Query, Res, UseGuards } from '@nestjs/common';
import { DeletePacks, MAX_LISTED_PACKS, PackCursor, type PackPage } from '@slipway/contracts/sandboxes';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import type { PackStore } from '@slipway/sandbox/packs';
import type { FastifyReply } from 'fastify';
import { goneSignal } from '../claims/request-wait.js';
import { ApiKeyGuard, OrgId } from '../sessions/api-key.guard.js';

export const PACK_STORE = Symbol('PACK_STORE');

/** Objects that are deleted at the same time. */
const AT_ONCE = 16;

/** What worker's sweep does to the objects of checkpoints. */
@Controller('packs')
@UseGuards(ApiKeyGuard)
export class PacksController {
  constructor(@Inject(PACK_STORE) private readonly given: PackStore | null) {}

  /** Of all organizations, in order. */
  @Get()
  async list(@Query() query: unknown, @Res({ passthrough: true }) reply: FastifyReply): Promise<PackPage> {
    const { after_org: orgId, after_pack: packId } = parseOrThrow(PackCursor, query);
    const after = orgId === undefined || packId === undefined ? null : { orgId, packId };
    const packs: PackPage['packs'] = [];
    for await (const pack of this.store().list(after, goneSignal(reply))) {
      const { bytes, storedAt } = pack;
      packs.push({ org_id: pack.orgId, pack_id: pack.packId, bytes, stored_at: storedAt.toISOString() });
      if (packs.length === MAX_LISTED_PACKS) break;
    }
    return { packs };
  }

  /** Ends at the first failure; what was deleted until then may be deleted again. */
  @Post('delete')
  @HttpCode(200)
  async delete(
    @OrgId() orgId: string,
    @Body() body: unknown,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ deleted: number }> {
    const { packs } = parseOrThrow(DeletePacks, body);
    const signal = goneSignal(reply);
    for (let at = 0; at < packs.length; at += AT_ONCE)
      await Promise.all(packs.slice(at, at + AT_ONCE).map((packId) => this.store().delete({ orgId, packId }, signal)));
    return { deleted: packs.length };
  }

  private store(): PackStore {
    if (this.given !== null) return this.given;
    throw new SlipwayError('resource.not-found', 'This runtime-api has no store of packs.');
  }
}
