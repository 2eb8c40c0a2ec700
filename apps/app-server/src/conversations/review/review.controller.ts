import { Controller, Param } from '@nestjs/common';
import {
  type CreateReviewComment,
  type CreateReviewThread,
  type Review,
  type ReviewThread,
  type SentReview,
  type SetViewedFile,
  type UpdateReviewThread,
} from '@slipway/contracts/conversations';
import { operations } from '@slipway/contracts/operations';
import { type Principal } from '@slipway/contracts/organizations';
import { Body, Caller, ReservedId } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { conversationId } from '../../log/events/conversation-id.js';
import { ReviewService } from './review.service.js';

@Controller()
export class ReviewController {
  constructor(private readonly review: ReviewService) {}

  @Serves(operations.getReview)
  get(@Caller() caller: Principal, @Param('conversation') id: string): Promise<Review> {
    return this.review.get(caller, conversationId(id));
  }

  @Serves(operations.createReviewThread)
  createThread(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: CreateReviewThread,
    @ReservedId() reserved: string | undefined,
  ): Promise<ReviewThread> {
    return this.review.createThread(caller, conversationId(id), body, reserved);
  }

  @Serves(operations.createReviewComment)
  createComment(
    @Caller() caller: Principal,
    @Param() { conversation, thread }: { conversation: string; thread: string },
    @Body() body: CreateReviewComment,
    @ReservedId() reserved: string | undefined,
  ): Promise<ReviewThread> {
    const place = { conversation: conversationId(conversation), thread: conversationId(thread) };
    return this.review.createComment(caller, place, body, reserved);
  }

  @Serves(operations.deleteReviewComment)
  deleteComment(
    @Caller() caller: Principal,
    @Param() { conversation, thread, comment }: { conversation: string; thread: string; comment: string },
  ): Promise<void> {
    const place = { conversation: conversationId(conversation), thread: conversationId(thread) };
    return this.review.deleteComment(caller, place, conversationId(comment));
  }

  @Serves(operations.updateReviewThread)
  updateThread(
    @Caller() caller: Principal,
    @Param() { conversation, thread }: { conversation: string; thread: string },
    @Body() body: UpdateReviewThread,
  ): Promise<ReviewThread> {
    const place = { conversation: conversationId(conversation), thread: conversationId(thread) };
    return this.review.updateThread(caller, place, body);
  }

  @Serves(operations.setViewedFile)
  setViewed(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @Body() body: SetViewedFile,
  ): Promise<void> {
    return this.review.setViewed(caller, conversationId(id), body);
  }

  @Serves(operations.sendReview)
  send(
    @Caller() caller: Principal,
    @Param('conversation') id: string,
    @ReservedId() reserved: string | undefined,
  ): Promise<SentReview> {
    return this.review.send(caller, conversationId(id), reserved);
  }
}
